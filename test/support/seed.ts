/**
 * What random queries of a test begin with: the same on every run, so that a change is judged by the queries that were good before it.
 * `SEED=n` takes others, `SEED=new` those of the moment; the tests tell what they took.
 */
export function seedOf(seed = process.env.SEED ?? '1'): number {
  if (seed === 'new') return Date.now() % 2 ** 31
  const number = Number(seed)
  if (!Number.isSafeInteger(number))
    throw new Error(`SEED is ${JSON.stringify(seed)}; an integer or new is expected`)
  return number
}
