import { type Static, Type } from 'typebox'
import { CONFIG_INVALID } from '../../config/faults.ts'
import { patternText } from '../../config/texts.ts'
import { Fault, type FaultPlace, placeText } from '../../errors/errors.ts'

/** The maximum number of steps of a dataset. */
const MAX_PROCESSORS = 100

const Column = Type.String({ minLength: 1, maxLength: 1000 })
const Expression = Type.String({ minLength: 1, maxLength: 20_000 })
const closed = { additionalProperties: false }

const ProcessorSchema = Type.Object(
  {
    rename: Type.Optional(Type.Record(Type.String(), Column)),
    split: Type.Optional(
      Type.Object(
        {
          column: Column,
          separator: Type.String({ minLength: 1, maxLength: 100 }),
          into: Type.Array(Column, { minItems: 1, maxItems: 100 }),
        },
        closed,
      ),
    ),
    join: Type.Optional(
      Type.Object(
        {
          columns: Type.Array(Column, { minItems: 1, maxItems: 100 }),
          separator: Type.Optional(Type.String({ maxLength: 100 })),
          into: Column,
        },
        closed,
      ),
    ),
    replace: Type.Optional(
      Type.Object(
        {
          column: Column,
          pattern: Type.String({ minLength: 1, maxLength: 1000 }),
          with: Type.String({ maxLength: 1000 }),
          flags: Type.Optional(patternText('patternFlags')),
          into: Type.Optional(Column),
        },
        closed,
      ),
    ),
    date: Type.Optional(
      Type.Object(
        {
          column: Column,
          formats: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 20 }),
          type: Type.Optional(Type.Union([Type.Literal('date'), Type.Literal('datetime')])),
          timezone: Type.Optional(Type.String()),
          into: Type.Optional(Column),
        },
        closed,
      ),
    ),
    lookup: Type.Optional(
      Type.Object(
        {
          column: Column,
          dataset: patternText('datasetId'),
          key: Type.String({ minLength: 1 }),
          take: Type.Record(Type.String(), Column),
        },
        closed,
      ),
    ),
    filter: Type.Optional(Expression),
    compute: Type.Optional(Type.Object({ expression: Expression, into: Column }, closed)),
  },
  closed,
)

/** The list `processors` of dataset.yaml: the steps between source and record. */
export const PROCESSORS_SCHEMA = Type.Array(ProcessorSchema, { maxItems: MAX_PROCESSORS })

type Declared = Static<typeof ProcessorSchema>

/** A step by type, with its settings. */
export type ProcessorStep = {
  readonly [Name in keyof Declared]-?: {
    readonly type: Name
    readonly settings: NonNullable<Declared[Name]>
  }
}[keyof Declared]

export type StepType = ProcessorStep['type']

/** A step of dataset.yaml with its position there. */
export interface Processor {
  /** From 1. */
  readonly number: number
  readonly step: ProcessorStep
  /** The position of a member of the settings; without a name, that of the step itself. */
  readonly placeOf: (member?: string) => FaultPlace
}

/** The names of all steps, in the order of the documentation. */
export const STEP_TYPES = Object.keys(ProcessorSchema.properties) as readonly StepType[]

/** The only step that an entry of the list declares; the number of steps if it is not one. */
export function stepOf(declared: Declared): ProcessorStep | number {
  const entries = Object.entries(declared).filter(([, settings]) => settings !== undefined)
  const [only] = entries
  if (only === undefined || entries.length > 1) return entries.length
  return { type: only[0], settings: only[1] } as ProcessorStep
}

/** The steps of dataset.yaml. @param placeOf position of a path of the document */
export function processorsOf(
  declared: readonly Declared[],
  placeOf: (path: readonly string[]) => FaultPlace,
): readonly Processor[] {
  return declared.flatMap((each, at) => {
    const step = stepOf(each)
    if (typeof step === 'number') return []
    const path = ['processors', String(at), step.type]
    return [
      { number: at + 1, step, placeOf: member => placeOf(member === undefined ? path : [...path, member]) },
    ]
  })
}

/** The fault of a step: its position in dataset.yaml, its number and type, the problem, and what was expected. */
export function stepFault(
  { number, step, placeOf }: Processor,
  reason: string,
  {
    member,
    hint,
    cause,
  }: { readonly member?: string; readonly hint?: string; readonly cause?: unknown } = {},
): Fault {
  const place = placeOf(member)
  return new Fault(
    CONFIG_INVALID,
    { reason: `${placeText(place)}step ${number} (${step.type}): ${reason}` },
    { place, ...(hint === undefined ? {} : { hint }), ...(cause === undefined ? {} : { cause }) },
  )
}
