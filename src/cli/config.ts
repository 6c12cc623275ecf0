import { Command } from 'commander'
import { printColumns } from './accounts.ts'
import { originText, shownSettings } from './config/origins.ts'
import { BASE_OPTION, JSON_OPTION, PORTAL_OPTION, type PortalOptions, portArgument } from './options.ts'
import { printJson } from './print.ts'

/** `lodestone config`: the effective settings of commands. */
export function configCommand(): Command {
  const show = new Command('show')
    .description('print every setting with its value and origin, without secrets')
    .option(...PORTAL_OPTION)
    .option('--port <n>', 'port to listen on', portArgument)
    .option(...BASE_OPTION)
    .option(...JSON_OPTION)
    .action(({ json, ...flags }: PortalOptions & { readonly json?: boolean }) => {
      const settings = shownSettings(flags, process.env)
      if (json === true) return printJson(settings)
      const rows = settings.map(({ setting, value, origin }) => [
        setting,
        valueText(value),
        originText(origin),
      ])
      printColumns(['SETTING', 'VALUE', 'ORIGIN'], rows)
    })
    .exitOverride()
  return new Command('config').description('print the settings of a portal').addCommand(show)
}

function valueText(value: unknown): string {
  if (value === null || value === '') return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
