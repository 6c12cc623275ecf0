import { createRequire } from 'node:module'
import proj4 from 'proj4'
import { lookup } from '../model/lookup.ts'

type Definitions = Readonly<Record<string, readonly [name: string, definition: string]>>

let definitions: Definitions | undefined

/** Codes of Krovak with axes to the south and the west, of which proj4-list does not say so. */
const SOUTH_WEST: ReadonlySet<number> = new Set([2065, 5513])

/**
 * Shifts to WGS 84 of the operation without a grid that EPSG 12 recommends for the area of a system, where that of proj4-list is
 * wrong by more than five metres on average: three or seven parameters (position vector), and the codes.
 */
const SHIFTS = `
-153,153,307=2006,4606 23.772,17.49,17.859,-0.3132,-1.85274,1.67299,-5.4262=2039,4141
-110.33,-97.73,-119.85,0.3423,1.1634,0.2715,0.063=2058-2061,4154 18.38,192.45,96.82,0.056,-0.142,-0.2,-0.0013=2083
-84.1,-101.8,-129.7,0,0,0.468,1.05=2206-2212,2319-2325,23038 163.511,127.533,-159.789,0,0,0.814,-0.6=2216-2217,4194
-44.183,-0.58,-38.489,2.3867,2.7072,-3.5196,-8.2703=2462,4191 11.363,424.148,373.13=2987,4638 -112,-110.3,-140.2=3066
347.175,1077.618,2623.677,33.9058,-70.6776,9.4013,186.0647=3303,4688
218.769,150.75,176.75,3.5231,2.0037,1.288,10.9817=3305,4691 2.329,-147.042,-92.08,-0.309,0.325,0.497,5.69=3844
-103,-106,-141=3893 476.08,125.947,417.81,4.610862,2.388137,-11.942335,9.896638=3911-3912
572.213,85.334,461.94,4.9732,1.529,5.2484,3.5378=4156,4818,5221,5513-5514 -345,3,223=4232,23239-23240
-1.977,-13.06,-9.993,0.364,0.254,0.689,-1.037=4238,23846-23847,23852,23887,23891-23892,23894
293,836,318,0.5,1.6,-2.8,2.1=4240,24047-24048 -2,374,172=4271,27120
-198.383,-240.517,-107.909=4297,29700,29702,29738-29739
-267.407,-47.068,446.357,-0.179423,5.577661,-1.27762,1.204866=4307,30729-30732,30792
-124.45,183.74,44.64,-0.4384,0.5446,-0.9706,-2.1365=4309
577.326,90.129,463.919,5.137,1.474,5.297,2.4232=4805,31251-31253,31281-31283,31288-31293
24,-121,-76=5561-5583,6381-6387 8.846,-4.394,-1.122,-0.00237,-0.146528,0.130428,0.783926=6311-6312
-157.84,308.54,-146.6=20822 -175,-23,-303=21035-21036 282,726,254=24305-24306,24375
-60.31,245.935,31.008,12.324,3.755,-7.37,0.447=24817 -282,169,-371=24818 -298,159,-369=24821
-279,175,-379=24877,24891-24893 -270,188,-388=24880-24881 -291.87,106.37,-364.52=24882 -93.6,-83.7,113.8=26331-26332
`

let shifts: ReadonlyMap<number, string> | undefined

function recommendedShift(code: number): string | undefined {
  shifts ??= new Map(
    [...SHIFTS.matchAll(/(\S+)=(\S+)/g)].flatMap(([, shift = '', ranges = '']) =>
      ranges.split(',').flatMap(range => {
        const [first = 0, last = first] = range.split('-').map(Number)
        return Array.from({ length: last - first + 1 }, (_, at) => [first + at, shift] as const)
      }),
    ),
  )
  return shifts.get(code)
}

/**
 * The PROJ string of an EPSG code, undefined for one that is unknown. Grids that it requires are left out, because there are none: proj4
 * then takes the parameters beside them, and would have no position at all.
 */
export function epsgDefinition(code: number): string | undefined {
  definitions ??= createRequire(import.meta.url)('proj4-list') as Definitions
  const known = lookup(definitions, `EPSG:${code}`)?.[1]?.replace(/\+nadgrids=[^@\s]\S*/, '')
  if (known === undefined) return undefined
  const shift = recommendedShift(code)
  const shifted = shift === undefined ? known : `${known.replace(/\+towgs84=\S+/, '')} +towgs84=${shift}`
  return SOUTH_WEST.has(code) ? `${shifted} +axis=swu` : shifted
}

/**
 * Names of datums in the WKT of ESRI, without `D_`, and the EPSG codes of their geographic systems (EPSG 12): those whose shift in
 * proj4-list was right by 20 metres in the middle of the area of one of their projections, or is put right above, and that
 * proj4 does not know by name; that of Belge 1972 it turns the wrong way, that of S-JTSK is wrong by ten metres.
 */
const DATUMS = `
Abidjan_1987=4143 Accra=4168 Adindan=4201 Afgooye=4205 Ain_el_Abd_1970=4204 Albanian_1987=4191 American_Samoa_1962=4169
Amersfoort=4289 Antigua_1943=4601 Aratu=4208 Arc_1950=4209 Arc_1960=4210 Australian_1966=4202 Australian_1984=4203
Azores_Central_Islands_1948=4183 Azores_Central_Islands_1995=4665 Azores_Occidental_Islands_1939=4182
Azores_Oriental_Islands_1940=4184 Azores_Oriental_Islands_1995=4664 Barbados_1938=4212 Batavia=4211
Batavia_(Jakarta)=4813 Belge_1972=4313 Bermuda_1957=4216 Bissau=4165 Bogota=4218 CH1903_(Bern)=4801 CSG_1967=4623
Cadastre_1997=4475 Campo_Inchauspe=4221 Cape=4222 Chatham_Island_1971=4672 Chatham_Islands_1979=4673 Chua=4224
Combani_1950=4632 Conakry_1905=4315 Corrego_Alegre=4225 Dabola_1981=4155 Datum_73=4274 Dealul_Piscului_1933=4316
Deutsches_Hauptdreiecksnetz=4314 Dominica_1945=4602 Douala_1948=4192 Egypt_1907=4229 Egypt_Gulf_of_Suez_S-650_TL=4706
European_1950=4230 European_1950_ED77=4154 European_Libyan_1979=4159 Fahud=4232 Fatu_Iva_1972=4688 Fiji_1956=4721
Fort_Desaix=4625 Fort_Marigot=4621 GGRS_1987=4121 Grand_Cayman_1959=4723 Grand_Comoros=4646 Grenada_1953=4603
Gulshan_303=4682 Gunung_Segara_(Jakarta)=4820 Helle_1954=4660 Hito_XVIII_1963=4254 Hong_Kong_1980=4611 Hu_Tzu_Shan=4236
Hungarian_1972=4237 IGN53_Mare=4641 IGN56_Lifou=4633 IGN63_Hiva_Oa=4689 IGN72_Grande_Terre=4662 IGN72_Nuku_Hiva=4630
Indian_1975=4240 Indonesian_1974=4238 Institut_Geographique_du_Congo_Belge_1955=4701 Israel=4141 Jamaica_1969=4242
KKJ=4123 Kalianpur_1962=4145 Kalianpur_1975=4146 Kandawala=4244 Karbala_1979_Polservice=4743 Kerguelen_Island_1949=4698
Kertau=4245 Kuwait_Oil_Company=4246 Kuwait_Utility=4319 La_Canoa=4247 Le_Pouce_1934=4699 Leigon=4250
Libyan_Geodetic_Datum_2006=4754 Lisbon=4207 Lisbon_1937_(Lisbon)=4803 Little_Cayman_1961=4726
Luxembourg_Reference_Frame=4181 Luzon_1911=4253 MGI_1901=3906 MOP78=4639 Makassar=4257 Makassar_(Jakarta)=4804
Manoca_1962=4193 Massawa=4262 Maupiti_1983=4692 Merchich=4261 Minna=4263 Monte_Mario=4265 Montserrat_1958=4604
Moorea_1987=4691 Mporaloko=4266 NEA74_Noumea=4644 NGN=4318 NGO_1948_(Oslo)=4817 NTF=4275 Nahrwan_1934=4744
Nahrwan_1967=4270 Naparima_1955=4158 Naparima_1972=4271 Nord_Sahara_1959=4307
Nouvelle_Triangulation_Francaise_(Paris)=4807 Ocotepeque_1935=5451 Old_Hawaiian=4135 PDO_1993=4134
Philippine_Reference_System_1992=4683 Pitcairn_1967=4729 Pointe_Noire=4282 Porto_Santo_1936=4615 Porto_Santo_1995=4663
Provisional_S_American_1956=4248 Puerto_Rico=4139 Pulkovo_1942=4284 Pulkovo_1942_Adj_1958=4179
Pulkovo_1942_Adj_1983=4178 Pulkovo_1995=4200 QND_1995=4614 Qatar=4285 Qornoq_1927=4194 RT_1990=4124 Reunion_1947=4626
ST71_Belep=4643 ST84_Ile_des_Pins=4642 S_JTSK=4156 Saint_Pierre_et_Miquelon_1950=4638 Sainte_Anne=4622 Schwarzeck=4293
Selvagem_Grande_1938=4616 Sierra_Leone_1968=4175 South_American_1969=4618 South_American_Datum_1969_96=5527
South_East_Island_1943=6892 South_Yemen=4164 Sri_Lanka_Datum_1999=5233 St_Kitts_1955=4605 St_Lucia_1955=4606
St_Vincent_1945=4607 TM75=4300 Tahaa_1954=4629 Tahiti_1952=4628 Tahiti_1979=4690 Tananarive_1925=4297 Tete=4127
Timbalai_1948=4298 Tokyo=4301 Trinidad_1903=4302 Ukraine_2000=5561 Vietnam_2000=4756 Viti_Levu_1912=4752
Voirol_1875=4304 WGS_1972=4322 WGS_1972_BE=4324 Yacare=4309 Yoff=4310 Zanderij=4311
`

let codes: ReadonlyMap<string, number> | undefined

/** The code of the geographic system with a datum of this name. */
function codeOf(datum: string): number | undefined {
  codes ??= new Map(
    [...DATUMS.matchAll(/(\S+)=(\d+)/g)].map(([, name = '', code]) => [name.toLowerCase(), Number(code)]),
  )
  return codes.get(datum.replace(/^D_/i, '').toLowerCase())
}

/** The name of a datum, and the last digits of its EPSG code: 6001 to 6999 belong to the geographic systems 4001 to 4999. */
const DATUM =
  /(DATUM\["([^"]{1,100})",\s*SPHEROID\[[^[\]]{1,200}(?:\[[^[\]]{1,100}\])?\])(?:,\s*AUTHORITY\["EPSG",\s*"?6(\d{3})"?\])?/i

/**
 * Puts the shift of its datum to WGS 84 into WKT that has none (OGC 01-009): `.prj` files only name the datum, and without its
 * shift positions are wrong by a hundred metres. WKT with a datum that is not known stays as it is.
 */
export function withDatumShift(wkt: string): string {
  if (/TOWGS84/i.test(wkt)) return wkt
  return wkt.replace(DATUM, (whole, start: string, name: string, digits: string | undefined) => {
    const code = digits === undefined ? codeOf(name) : 4000 + Number(digits)
    const shift = code === undefined ? undefined : shiftOf(code)
    return shift === undefined ? whole : `${start},TOWGS84[${shift}]${whole.slice(start.length)}`
  })
}

/** Three or seven parameters; undefined for a system without them. */
function shiftOf(code: number): string | undefined {
  const definition = epsgDefinition(code)
  if (definition === undefined) return undefined
  const { datum_params: shift } = new proj4.Proj(definition) as {
    readonly datum_params?: readonly unknown[] | null
  }
  return shift?.map(Number).concat(0, 0, 0, 0).slice(0, 7).join(',')
}

/** Degrees of the first unit of angles in WKT: 0.9 for grads, 1 where it is degrees or has none. */
export function degreesOfUnit(wkt: string): number {
  return degreesOf(Number(/UNIT\["[^"]{1,50}",\s*([\d.e+-]{1,40})/i.exec(wkt)?.[1]))
}

/** Degrees of a unit of angles by its radians; 1 where they are nearly a degree, or no number. */
export function degreesOf(radians: unknown): number {
  const factor = (Number(radians) * 180) / Math.PI
  return Math.abs(factor - 1) > 0.001 ? factor : 1
}

/**
 * Turns the longitudes of prime meridians into degrees in WKT 2 (ISO 19162), of which proj4 does not read the units. It reads those
 * of 2015 by the names of 2019 alone.
 */
export function withMeridianInDegrees(wkt: string): string {
  return wkt
    .replace(
      /(PRIMEM\["[^"]{1,100}",\s*)([\d.e+-]{1,40})(,\s*ANGLEUNIT\["[^"]{1,50}",\s*([\d.e+-]{1,40}))/i,
      (_, start: string, value: string, unit: string, radians: string) =>
        `${start}${Number(value) * degreesOf(radians)}${unit}`,
    )
    .replace(/\b(BASE)?GEODCRS(?=\s*\[)/gi, (_, base = '') => `${base}GEOGCRS`)
}

/**
 * Turns the parameters of a projection into degrees in WKT of which they are grads (`UNIT["Grad",0.0157…]`), as those of the old
 * Lambert zones of France are. Longitudes of prime meridians are degrees in either.
 */
export function inDegrees(wkt: string): string {
  const factor = degreesOfUnit(wkt)
  if (!/^\s*PROJCS/i.test(wkt) || factor === 1) return wkt
  return wkt.replace(
    /(PARAMETER\["[^"]{0,40}(?:parallel|meridian|latitude|longitude|azimuth)[^"]{0,40}",\s*)([\d.e+-]{1,40})/gi,
    (_, start: string, value: string) => `${start}${Number(value) * factor}`,
  )
}

/**
 * Gives a Mercator projection of ESRI the scale at the equator that its standard parallel means (EPSG guidance note 7-2, variant B):
 * proj4 reads no standard parallel in WKT.
 */
export function withMercatorScale(wkt: string): string {
  if (!/PROJECTION\["Mercator"\]/i.test(wkt)) return wkt
  const parallel = /"Standard_Parallel_1",\s*(-?[\d.]+)/i.exec(wkt)?.[1]
  const inverse = /SPHEROID\["[^"]*",\s*[\d.]+,\s*([\d.]+)/i.exec(wkt)?.[1]
  if (parallel === undefined || inverse === undefined || /"Scale_Factor"/i.test(wkt)) return wkt
  const latitude = (Number(parallel) * Math.PI) / 180
  const flattening = Number(inverse) === 0 ? 0 : 1 / Number(inverse)
  const squared = flattening * (2 - flattening)
  const scale = Math.cos(latitude) / Math.sqrt(1 - squared * Math.sin(latitude) ** 2)
  return wkt.replace(/(?=PARAMETER\["Standard_Parallel_1")/i, `PARAMETER["Scale_Factor",${scale}],`)
}
