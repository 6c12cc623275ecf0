import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { usageFault } from '../config/faults.ts'
import { titleFromName } from '../model/title.ts'
import { counted, printText, shellWord } from './print.ts'

/** `lodestone init`: creates a portal folder. */
export function initCommand(): Command {
  return new Command('init')
    .description('begin a portal: a folder with portal.yaml, data/ and mappings/')
    .argument('[folder]', 'folder of the portal', '.')
    .option('--title <title>', 'title of the portal (default: from the name of the folder)')
    .action((folder: string, { title }: { readonly title?: string }) => {
      if (title === '') throw usageFault('--title is empty: leave it out, or name the portal')
      const portal = path.resolve(folder)
      const settings = path.join(portal, 'portal.yaml')
      if (existsSync(settings)) throw usageFault(`${settings} exists already: this is a portal`)
      mkdirSync(path.join(portal, 'data'), { recursive: true })
      mkdirSync(path.join(portal, 'mappings'), { recursive: true })
      writeFileSync(settings, settingsText(title ?? titleFromName(path.basename(portal))), { flag: 'wx' })
      const ignore = path.join(portal, '.gitignore')
      if (!existsSync(ignore)) writeFileSync(ignore, 'var/\n')
      const isHere = portal === process.cwd()
      const flag = isHere ? '' : ` --portal ${shellWord(folder)}`
      const known = readdirSync(path.join(portal, 'data')).length
      printText(
        `${settings}\n\n${known > 0 ? `data/ has ${counted(known, 'entry', 'entries')} already. ` : ''}Next:\n` +
          `  put files into ${path.join(folder, 'data')}: each is published with inferred types\n` +
          `  lodestone import FILE${flag}      describe one in a dataset.yaml, to edit\n` +
          `  lodestone serve${flag}            publish and serve\n`,
      )
    })
}

function settingsText(title: string): string {
  return [
    `title: ${JSON.stringify(title)}`,
    '# What the portal is about, in one sentence.',
    'description: ""',
    '# Its public address: every IRI begins with it. http://localhost:3000 by default.',
    '# base: https://data.example.org',
    '# All other settings: lodestone config show',
    '',
  ].join('\n')
}
