import t from 'tap'
import { distanceFrom } from '../src/model/great-circle.ts'
import { distanceBetween } from '../src/store/columns/evaluate/functions/jsts.ts'

/** Distances of shapes on the sphere, beside those of many positions on their edges. */

t.test('distances of shapes are the least, however far north and across the antimeridian', async t => {
  let state = 7
  const random = (from: number, to: number) => {
    state = (state * 48271) % 2147483647
    return from + (to - from) * (state / 2147483647)
  }
  type Position = readonly [longitude: number, latitude: number]
  const corners = (count: number, west: number, south: number, side: number) =>
    Array.from({ length: count }, () => [random(west, west + side), random(south, south + side)] as Position)
  const text = (list: readonly Position[]) => `(${list.map(([x, y]) => `${x} ${y}`).join(', ')})`
  const dense = (list: readonly Position[]) =>
    list.flatMap(([x, y], at) => {
      const [nextX, nextY] = list[at + 1] ?? [x, y]
      return Array.from(
        { length: 200 },
        (_, step): Position => [x + ((nextX - x) * step) / 200, y + ((nextY - y) * step) / 200],
      )
    })
  const shapes = (west: number, south: number) =>
    [1, 2, 4].map(count => {
      const list = corners(count, west, south, 2)
      const closed = count < 4 ? list : [...list, list[0] as Position]
      const name = count === 1 ? 'POINT' : count === 2 ? 'LINESTRING' : 'POLYGON('
      return { wkt: `${name}${text(closed)}${count < 4 ? '' : ')'}`, positions: dense(closed) }
    })
  for (const [west, south] of [
    [0, 0],
    [0, 47],
    [-50, 68],
    [176.5, -18],
    [177, 62],
  ] as const)
    for (const one of shapes(west, south))
      for (const other of shapes(west + 2.5 > 178 ? west + 2.5 - 360 : west + 2.5, south + 2.2)) {
        const least = Math.min(
          ...one.positions.map(([x, y]) => {
            const metres = distanceFrom(x, y)
            return other.positions.reduce((found, [x2, y2]) => Math.min(found, metres(x2, y2)), Infinity)
          }),
        )
        const found = distanceBetween(one.wkt, other.wkt) ?? Number.NaN
        t.ok(Math.abs(found - least) < least * 0.001, `${one.wkt} ${other.wkt} ${found} ${least}`)
        t.equal(distanceBetween(other.wkt, one.wkt)?.toPrecision(10), found.toPrecision(10))
      }
  const [near, wide] = ['POINT(0 60)', 'MULTIPOINT((0 60.8), (1 60))']
  t.equal(Math.round(distanceBetween(near, wide) ?? 0), 55597)
  t.equal(distanceBetween('POINT(1 1)', 'POLYGON((0 0, 3 0, 3 3, 0 3, 0 0))'), 0)
  t.equal(distanceBetween('POINT(1 1)', 'GEOMETRYCOLLECTION(POLYGON((0 0, 3 0, 3 3, 0 3, 0 0)))'), 0)
})
