/**
 * A statement of accounts in the SQL of PostgreSQL: numbered parameters, and its own function for arrays of grouped values.
 */
export function postgresSql(sql: string): string {
  let last = 0
  return sql
    .replace(/\?(\d*)/g, (_, number: string) => `$${number === '' ? ++last : number}`)
    .replace(/\bjson_group_array\((\w+)\)/g, `coalesce(json_agg($1), '[]')::text`)
}
