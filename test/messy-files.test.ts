import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { Zstd } from '@hpcc-js/wasm-zstd'
import t from 'tap'
import { importFile } from '../src/cli/import.ts'
import { Fault, faultText } from '../src/errors/errors.ts'
import { projJsonOf } from '../src/formats/projjson.ts'
import { zip } from '../src/formats/zip-stream.ts'
import { checkDataset, checkPortal } from '../src/publishing/check.ts'
import { definedDatasets, readDefinition } from '../src/publishing/definition.ts'
import { implicitSource, implicitSources } from '../src/publishing/implicit.ts'
import { PortalWatch } from '../src/publishing/portal-watch.ts'
import { publishDataset } from '../src/publishing/publish.ts'
import { versionsOf } from '../src/publishing/versions/versions.ts'
import { inferColumns } from '../src/sources/infer.ts'
import { inspectSource } from '../src/sources/inspect.ts'
import { openSource, type SourceOptions } from '../src/sources/open.ts'
import { converterOf } from '../src/sources/typing/convert.ts'
import { typeRecords } from '../src/sources/typing/typed-records.ts'
import { temporaryFolder } from './support/folder.ts'

const folder = temporaryFolder(t, {})
const folders = { datasetFolder: folder, portalFolder: folder }

/** Fields as `name: type format`, and the values of the first record. */
async function understood(name: string, content: string | Buffer, options?: SourceOptions) {
  writeFileSync(join(folder, name), content)
  const found = await inspectSource({ path: name, ...(options === undefined ? {} : { options }) }, folders)
  const typed = typeRecords(openSource(found.source, folders), found.fields)
  const values: (readonly unknown[])[] = []
  for await (const batch of typed.batches()) values.push(...batch.values)
  const fields = found.fields.map(
    ({ name, type, format }) => `${name}: ${type}${format === undefined ? '' : ` ${format}`}`,
  )
  return { fields, values, misfits: typed.report().misfitCount, found }
}

function latin(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

function utf32(text: string): Buffer {
  return Buffer.from(Uint32Array.from([...text].map(letter => letter.codePointAt(0) as number)).buffer)
}

/** MacRoman has these at other places than all else. */
function macRoman(text: string): Buffer {
  const upper: Readonly<Record<string, number>> = { é: 0x8e, è: 0x8f, à: 0x88, ç: 0x8d, ô: 0x99, É: 0x83 }
  return Buffer.from([...text].map(letter => upper[letter] ?? letter.charCodeAt(0)))
}

async function archive(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const entries = Object.entries(files).map(([name, content]) => ({ name, content: [content as string] }))
  return buffer(Readable.from(zip(entries)))
}

type Case = readonly [
  name: string,
  content: string | Buffer,
  fields: readonly string[],
  first: readonly unknown[],
  records?: number,
]

const TEXTS: readonly Case[] = [
  ['semicolons.csv', 'nom;prix\nA;1,5\nB;2,25\n', ['nom: text', 'prix: double ,'], ['A', 1.5]],
  ['tabs.txt', 'name\tn\nA\t1\nB\t2\n', ['name: text', 'n: int'], ['A', 1]],
  ['pipes.dat', 'name|n\nA|1\nB|2\n', ['name: text', 'n: int'], ['A', 1]],
  ['carets.csv', 'name^n^m\nA^1^2\nB^2^3\n', ['name: text', 'n: int', 'm: int'], ['A', 1, 2]],
  ['tab-in-csv.csv', 'name\tn\nA\t1\n', ['name: text', 'n: int'], ['A', 1]],
  ['sep.csv', 'sep=;\r\nname;n\r\n"A;B";1\r\n', ['name: text', 'n: int'], ['A;B', 1]],
  [
    'euro.csv',
    Buffer.from('Nr;Betrag\n1;1.234,50 \x80\n2;-99,00 \x80\n3;7,00 \x80\n', 'latin1'),
    ['nr: int', 'betrag: double 1.234,5 €'],
    [1, 1234.5],
  ],
  [
    'latin-9.csv',
    latin('Käufer;Betrag\nMüller;12,5 ¤\nJäger;7 ¤\n'),
    ['kaufer: text', 'betrag: double 1234,5 €'],
    ['Müller', 12.5],
  ],
  [
    'bullets.csv',
    latin('Käufer;Ziel\nMüller;¤ Haus\nJäger;¤ Hof\n'),
    ['kaufer: text', 'ziel: text'],
    ['Müller', '¤ Haus'],
  ],
  [
    'halves.csv',
    latin('Käufer;n;m\nMüller;5 ¤;1½\n'),
    ['kaufer: text', 'n: int 1234 ¤', 'm: text'],
    ['Müller', 5, '1½'],
  ],
  ['latin.csv', latin('ville;note\nGenève;1\nBesançon;2\n'), ['ville: text', 'note: int'], ['Genève', 1]],
  ['mac.csv', macRoman('ville;note\nGenève;1\nBesançon;2\n'), ['ville: text', 'note: int'], ['Genève', 1]],
  [
    'utf16.csv',
    Buffer.from('\ufeffville;note\nGenève;1\n', 'utf16le'),
    ['ville: text', 'note: int'],
    ['Genève', 1],
  ],
  [
    'euc-jp.csv',
    Buffer.from('yNa55izMvsGwLMXUu9QKMSzFxMPmwsDPuizF7LX+CjIszuvM2izC57rlCjMsu7PFxLLWu9Istf7F1Ao=', 'base64'),
    ['column_1: int', 'column_2: text', 'column_3: text'],
    [1, '田中太郎', '東京'],
  ],
  [
    'euc-kr.csv',
    Buffer.from('ufjIoyzAzLinLLW1vcMKMSyx6MO2vPYsvK2/7woyLMDMv7XI8Sy6zrvqCg==', 'base64'),
    ['column_1: int', 'column_2: text', 'column_3: text'],
    [1, '김철수', '서울'],
  ],
  [
    'gb18030.csv',
    Buffer.from('seC6xSzD+7PGLLPHytAKMSzVxcj9LLGxvqkKMizA7svELMnPuqMK', 'base64'),
    ['column_1: int', 'column_2: text', 'column_3: text'],
    [1, '张三', '北京'],
  ],
  [
    'utf16-cyrillic.csv',
    Buffer.from('имя;город\nИван;Москва\nПётр;Тверь\n', 'utf16le'),
    ['column_1: text', 'column_2: text'],
    ['Иван', 'Москва'],
  ],
  [
    'utf16-big-cyrillic.csv',
    Buffer.from('имя;город\nИван;Москва\nПётр;Тверь\n', 'utf16le').swap16(),
    ['column_1: text', 'column_2: text'],
    ['Иван', 'Москва'],
  ],
  ['utf32.csv', utf32('\ufeffville;note\nGenève 🌊;1\n'), ['ville: text', 'note: int'], ['Genève 🌊', 1]],
  [
    'utf32-big.csv',
    utf32('\ufeffville;note\nGenève 🌊;1\n').swap32(),
    ['ville: text', 'note: int'],
    ['Genève 🌊', 1],
  ],
  [
    'utf16-plain.csv',
    Buffer.from('ville;note\nGenève;1\n', 'utf16le'),
    ['ville: text', 'note: int'],
    ['Genève', 1],
  ],
  ['cr.csv', 'a,b\r1,x\r2,y\r', ['a: int', 'b: text'], [1, 'x']],
  [
    'title.csv',
    'Liste des arbres;;\nMise à jour : 2024;;\n;;\nNom;Hauteur;An\nChêne;12;1999\nHêtre;15;2001\n',
    ['nom: text', 'hauteur: int', 'an: int'],
    ['Chêne', 12, 1999],
    2,
  ],
  [
    'footer.csv',
    'name,n,m\nA,1,2\nB,2,3\nC,4,5\nTotal,7,10\n\nSource: the city\n',
    ['name: text', 'n: int', 'm: int'],
    ['A', 1, 2],
    3,
  ],
  [
    'no-header.csv',
    '1,Oak,12.5\n2,Elm,8\n3,Fir,9.25\n',
    ['column_1: int', 'column_2: text', 'column_3: double'],
    [1, 'Oak', 12.5],
    3,
  ],
  [
    'years.csv',
    'country,2019,2020\nFR,1.5,2\nDE,3,4\n',
    ['country: text', '2019: double', '2020: int'],
    ['FR', 1.5, 2],
    2,
  ],
  ['headers.csv', 'a,,a, b \n1,2,3,4\n', ['a: int', 'column_2: int', 'a_2: int', 'b: int'], [1, 2, 3, 4]],
  ['trailing.csv', 'a;b;;\n1;2;;\n3;4;;\n', ['a: int', 'b: int'], [1, 2], 2],
  ['quotes.csv', 'a,b\n"Le "Grand" Hotel",1\nB,2\n', ['a: text', 'b: int'], ['Le "Grand" Hotel', 1]],
  ['inches.csv', 'size,n\n"5,1\n7,2\n', ['size: text', 'n: int'], ['"5', 1], 2],
  [
    'thousands.csv',
    'a\tb\tc\n1,234.50\t1.234,50\t1 234,5\n12.00\t7,5\t2\n',
    ['a: double 1,234.5', 'b: double 1.234,5', 'c: double 1 234,5'],
    [1234.5, 1234.5, 1234.5],
  ],
  [
    'some-thousands.csv',
    'a\tb\tc\td\n1,783\t1,234.5\t1.234,5\t1 234\n1783\t1234.5\t1234,5\t1234\n5607\t2\t7\t5\n',
    ['a: int 1,234', 'b: double 1,234.5', 'c: double 1.234,5', 'd: int 1 234'],
    [1783, 1234.5, 1234.5, 1234],
  ],
  [
    'three-decimals.csv',
    'a;b\n1,783;0,125\n1783;12,125\n5607;7,250\n',
    ['a: double ,', 'b: double ,'],
    [1.783, 0.125],
  ],
  [
    'exponents.csv',
    'n,p\n4.03841E-06,--\nNULL,--\n0.5,1.5\n',
    ['n: double', 'p: double'],
    [4.03841e-6, null],
  ],
  [
    'exponents-without-sign.csv',
    'k,big,grouped\na,2.5E3,"1,200"\nb,1E3,3e2\nc,1.5e3,7\n',
    ['k: text', 'big: double', 'grouped: double 1,234.5'],
    ['a', 2500, 1200],
  ],
  [
    'exponents-beside-decimal-commas.csv',
    'x;s\n1,5;1.234e-01\n2,25;NA\n3,5;9.999e+00\n',
    ['x: double ,', 's: double'],
    [1.5, 0.1234],
  ],
  [
    'millions.csv',
    'a;b;c;d\n1 586 153,60;1\u202f586\u202f153.60;4 305 712,73 €;552 100 554 kg\n3 682 967,18;3\u202f682\u202f967.18;6 657 293,10 €;552 100 555 kg\n',
    ['a: double 1 234,5', 'b: double 1 234.5', 'c: double 1 234,5 €', 'd: int 1 234 kg'],
    [1586153.6, 1586153.6, 4305712.73, 552100554],
  ],
  ['codes-with-e.csv', 'k,code\na,12e4\nb,13E5\nc,7\n', ['k: text', 'code: text'], ['a', '12e4']],
  ['too-large.csv', 'k,n\na,2.5e308\nb,2.5\nc,3.5\n', ['k: text', 'n: text'], ['a', '2.5e308']],
  ['two-signs.csv', 'k;n;m\na;--5;- 5\nb;3;7\n', ['k: text', 'n: text', 'm: int 1234'], ['a', '--5', -5]],
  [
    'a-word-among-numbers.csv',
    `n,day,m\n${'1,05.03.2020,"1,5"\n'.repeat(3000)}abc,closed,free\n`,
    ['n: text', 'day: text', 'm: text'],
    ['1', '05.03.2020', '1,5'],
  ],
  [
    'words-for-nothing-among-numbers.csv',
    `n,m\n${'1,"1,5"\n'.repeat(30)}n/a,k.A.\n-,unknown\n`,
    ['n: int', 'm: double ,'],
    [1, 1.5],
    32,
  ],
  [
    'words-of-no-boolean.csv',
    'a;b;c;d;e\nNO;N;yes;Ja;true\nNO;S;yes;Ja;true\n',
    ['a: text', 'b: text', 'c: text', 'd: text', 'e: boolean'],
    ['NO', 'N', 'yes', 'Ja', true],
  ],
  ['mostly-nothing.csv', `a,b\n${'NA,x\n'.repeat(40)}12,7\n`, ['a: int', 'b: text'], [null, 'x']],
  ['apostrophes.csv', "a;b\n1'234.50;x\n1’000’000;y\n", ["a: double 1'234.5", 'b: text'], [1234.5, 'x']],
  ['grouped.csv', 'n;p\n1.234;1,5\n12.345;2,5\n', ['n: int 1.234', 'p: double ,'], [1234, 1.5]],
  [
    'currency.csv',
    'price;share;loss\n€ 1.234,50;12,5 %;(1.000)\n€ 7,00;3 %;20\n',
    ['price: double €1.234,5', 'share: double 1234,5 %', 'loss: int 1.234'],
    [1234.5, 12.5, -1000],
  ],
  ['dollars.csv', 'price,n\n"$1,200.00",1\n$5.10,2\n', ['price: double $1,234.5', 'n: int'], [1200, 1]],
  ['day-first.csv', 'd,n\n05/03/2020,1\n25/12/2020,2\n', ['d: date d/M/yyyy', 'n: int'], ['2020-03-05', 1]],
  ['month-first.csv', 'd,n\n05/03/2020,1\n12/25/2020,2\n', ['d: date M/d/yyyy', 'n: int'], ['2020-05-03', 1]],
  [
    'by-others.csv',
    'd,e\n05/03/2020,12/25/2020\n06/04/2020,01/02/2020\n',
    ['d: date M/d/yyyy', 'e: date M/d/yyyy'],
    ['2020-05-03', '2020-12-25'],
  ],
  ['points.csv', 'd;n\n5.3.2020;1\n6.4.2020;2\n', ['d: date d.M.yyyy', 'n: int'], ['2020-03-05', 1]],
  [
    'times.csv',
    'at,n\n05/13/2020 1:05 PM,1\n05/14/2020 12:00 AM,2\n',
    ['at: datetime M/d/yyyy h:mm a', 'n: int'],
    ['2020-05-13T13:05:00Z', 1],
  ],
  [
    'midnights.csv',
    'd;n\n13/05/2020 00:00;1\n14/05/2020 0:00;2\n',
    ['d: date d/M/yyyy H:mm', 'n: int'],
    ['2020-05-13', 1],
  ],
  [
    'names.csv',
    'd;e\n5 mars 2020;Jan 5, 2020\n14 août 2021;Feb 6, 2021\n',
    ['d: date d MMMM yyyy', 'e: date MMMM d, yyyy'],
    ['2020-03-05', '2020-01-05'],
  ],
  [
    'time-first.csv',
    'timestamp,n\n11:37:15  3 Sep 2020,1\n09:00:01  4 Sep 2020,2\n',
    ['timestamp: datetime H:mm:ss d MMMM yyyy', 'n: int'],
    ['2020-09-03T11:37:15Z', 1],
  ],
  [
    'ctime.csv',
    'at,n\nSun Jun 24 15:08:39 2001,1\nMon Jun 25 15:08:39 2001,2\n',
    ['at: datetime EEE MMMM d H:mm:ss yyyy', 'n: int'],
    ['2001-06-24T15:08:39Z', 1],
  ],
  [
    'mail.csv',
    'at;n\nWed, 04 Jul 2012 10:30:00 +0200;1\nThu, 05 Jul 2012 10:30:00 GMT;2\n',
    ['at: datetime EEE, d MMMM yyyy H:mm:ss X', 'n: int'],
    ['2012-07-04T08:30:00Z', 1],
  ],
  [
    'log.csv',
    'at;n\n04/Jul/2012:10:30:00 +0200;1\n05/Jul/2012:10:30:00 -01:30;2\n',
    ['at: datetime d/MMMM/yyyy:H:mm:ss X', 'n: int'],
    ['2012-07-04T08:30:00Z', 1],
  ],
  [
    'packed-times.csv',
    'at;n\n20200305T101500Z;1\n20200306T101500Z;2\n',
    ["at: datetime yyyyMMdd'T'HHmmssX", 'n: int'],
    ['2020-03-05T10:15:00Z', 1],
  ],
  [
    'ordinals.csv',
    'd;e\n1er janvier 2020;March 5th, 2020\n2 janvier 2020;April 1st, 2021\n',
    ['d: date do MMMM yyyy', 'e: date MMMM do, yyyy'],
    ['2020-01-01', '2020-03-05'],
  ],
  [
    'characters.csv',
    'd;e\n2020年3月5日;05MAR2020\n2020年12月31日;31DEC2020\n',
    ['d: date yyyy年M月d日', 'e: date dMMMMyyyy'],
    ['2020-03-05', '2020-03-05'],
  ],
  [
    'month-names.csv',
    'a;b;c;d\n1939, May;2020 Dec;Sep-99;5/2020\n1986, October;2021 Jan;Jan-00;12/2020\n',
    ['a: date yyyy, MMMM', 'b: date yyyy MMMM', 'c: date MMMM-yy', 'd: text'],
    ['1939-05-01', '2020-12-01', '1999-09-01', '5/2020'],
  ],
  [
    'two-centuries.csv',
    'first;signed;born\nSep-63;9/24/06;05/13/48\nMar-85;12/8/18;06/14/52\n',
    ['first: text', 'signed: date M/d/yy', 'born: text'],
    ['Sep-63', '2006-09-24', '05/13/48'],
  ],
  ['month-or-day.csv', 'd;n\nMar-01;1\nApr-12;2\n', ['d: text', 'n: int'], ['Mar-01', 1]],
  ['months.csv', 'month,n\n2020-01,1\n2020-02,2\n', ['month: date yyyy-MM', 'n: int'], ['2020-01-01', 1]],
  [
    'booleans.csv',
    'a;b;c;d\nOui;yes;VRAI;x\nNon;no;FAUX;y\n',
    ['a: boolean Oui/Non', 'b: boolean yes/no', 'c: boolean VRAI/FAUX', 'd: text'],
    [true, true, true, 'x'],
  ],
  [
    'nothing.csv',
    'n,d\n1,2020-01-01\nNA,-\n3,2020-01-03\n',
    ['n: int', 'd: date yyyy-M-d'],
    [1, '2020-01-01'],
  ],
  [
    'codes.csv',
    'code_postal,siren,n\n75001,552 100 554,1\n69001,552 100 555,2\n',
    ['code_postal: text', 'siren: text', 'n: int'],
    ['75001', '552 100 554', 1],
  ],
  [
    'amounts.csv',
    'market_cap;cp_days;mobile users;cp\n1000;-109;52000;75001\n2500;124;1300;69001\n',
    ['market_cap: int', 'cp_days: int', 'mobile_users: int', 'cp: text'],
    [1000, -109, 52000, '75001'],
  ],
  ['dashes.csv', 'a;b\n–0.1842;(12)\n1.5;7\n', ['a: double .', 'b: int 1234'], [-0.1842, -12]],
  ['zeros.csv', 'id,n\n007,1\n012,2\n', ['id: text', 'n: int'], ['007', 1]],
  [
    'near-zero.csv',
    'name,place\nA,"51.4779, -1e-05"\nB,"-33.925, 18.4241"\nC,"1e-7, -1.5e-9"\n',
    ['name: text', 'place: geo_point_2d lat,lon'],
    ['A', { lon: -1e-5, lat: 51.4779 }],
  ],
  [
    'lat-lon.csv',
    'name,lat,lon\nA,48.85,2.35\nB,43.3,5.4\n',
    ['name: text', 'lat: double', 'lon: double', 'geo_point: geo_point_2d'],
    ['A', 48.85, 2.35, { lon: 2.35, lat: 48.85 }],
  ],
  [
    'lat-comma.csv',
    'nom;Latitude;Longitude\nA;48,85;2,35\nB;43,3;5,4\n',
    ['nom: text', 'latitude: double ,', 'longitude: double ,', 'geo_point: geo_point_2d'],
    ['A', 48.85, 2.35, { lon: 2.35, lat: 48.85 }],
  ],
  [
    'pair.csv',
    'name;where\nA;48.8566, 2.3522\nB;43.2965, 5.3698\n',
    ['name: text', 'where: geo_point_2d lat,lon'],
    ['A', { lon: 2.3522, lat: 48.8566 }],
  ],
  [
    'pair-turned.csv',
    'name;where\nA;151.2093 -33.8688\nB;2.3522 48.8566\n',
    ['name: text', 'where: geo_point_2d lon,lat'],
    ['A', { lon: 151.2093, lat: -33.8688 }],
  ],
  [
    'position-objects.tsv',
    'name\tplace\nA\t{"lon": 151.266, "lat": -27.1944}\nB\t{"lon": 2, "lat": 48}\n',
    ['name: text', 'place: geo_point_2d'],
    ['A', { lon: 151.266, lat: -27.1944 }],
  ],
  [
    'degrees.csv',
    'name;where\nA;48°51\'24"N 2°21\'00"E\n',
    ['name: text', 'where: geo_point_2d lat,lon'],
    ['A', { lon: 2.35, lat: 48 + 51 / 60 + 24 / 3600 }],
  ],
  [
    'shapes.csv',
    'name;g\nA;POINT(2 48)\nB;"{""type"":""LineString"",""coordinates"":[[0,0],[1,1]]}"\n',
    ['name: text', 'g: geo_shape'],
    ['A', { type: 'Point', coordinates: [2, 48] }],
  ],
  [
    'epoch.json',
    '[{"created_at":1577836800,"n":1},{"created_at":1577836860,"n":2}]',
    ['created_at: datetime epoch-s', 'n: int'],
    ['2020-01-01T00:00:00Z', 1],
  ],
  [
    'nested.json',
    '{"meta":{"x":[1]},"data":{"rows":[{"a":{"b":1}},{"a":{"b":2}}],"few":[{"z":1}]}}',
    ['a_b: int'],
    [1],
    2,
  ],
  ['arrays.json', '[["name","n"],["A",1],["B",2]]', ['name: text', 'n: int'], ['A', 1], 2],
  ['members.json', '{"FR":{"n":1},"DE":{"n":2}}', ['key: text', 'n: int'], ['FR', 1], 2],
  ['lines.json', '{"a":1}\n{"a":2}\n', ['a: int'], [1], 2],
  [
    'features.json',
    '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[2,48]}}]}',
    ['a: int', 'geometry: geo_point_2d'],
    [1, { lon: 2, lat: 48 }],
  ],
  [
    'books.xml',
    '<?xml version="1.0" encoding="ISO-8859-1"?><c><meta><d>1</d></meta><book id="1"><title>A</title><price>1.5</price></book><book id="2"><title>B</title><price>2</price></book></c>',
    ['id: int', 'title: text', 'price: double'],
    [1, 'A', 1.5],
    2,
  ],
  [
    'track.gpx',
    '<gpx version="1.1"><wpt lat="48" lon="2"><ele>35.5</ele><name>A</name></wpt></gpx>',
    ['ele: double', 'name: text', 'geometry: geo_point_2d'],
    [35.5, 'A', { lon: 2, lat: 48 }],
  ],
  [
    'places.kml',
    '<kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark><name>A</name><ExtendedData><Data name="n"><value>5</value></Data></ExtendedData><Point><coordinates>2,48,0</coordinates></Point></Placemark></Document></kml>',
    ['n: int', 'name: text', 'geometry: geo_point_2d'],
    [5, 'A', { lon: 2, lat: 48 }],
  ],
  ['packed.csv.gz', gzipSync('a;b\n1;2\n'), ['a: int', 'b: int'], [1, 2]],
]

t.test('messy files get the types that a careful person would choose', async t => {
  for (const [name, content, fields, first, records] of TEXTS) {
    const {
      fields: found,
      values,
      misfits: conversionErrors,
    } = await understood(name, content).catch(error => {
      if (error instanceof Fault) return { fields: [faultText(error)], values: [], misfits: -1 }
      throw error
    })
    t.strictSame(found, fields, `${name}: fields`)
    t.strictSame(values[0], first, `${name}: first record`)
    t.equal(conversionErrors, 0, `${name}: what is inferred fits`)
    if (records !== undefined) t.equal(values.length, records, `${name}: records`)
  }
})

const SHEET = (rows: string) =>
  `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows}</sheetData></worksheet>`
const text = (place: string, value: string) => `<c r="${place}" t="inlineStr"><is><t>${value}</t></is></c>`
const number = (place: string, value: number, style = 0) => `<c r="${place}" s="${style}"><v>${value}</v></c>`
const WORKBOOK = {
  '[Content_Types].xml': '<Types/>',
  'xl/_rels/workbook.xml.rels':
    '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Target="/xl/worksheets/sheet2.xml"/></Relationships>',
  'xl/workbook.xml':
    '<workbook xmlns:r="x"><sheets><sheet name="Notes" state="hidden" r:id="r1"/><sheet name="Data" r:id="r2"/></sheets></workbook>',
  'xl/styles.xml':
    '<styleSheet><numFmts><numFmt numFmtId="170" formatCode="dd/mm/yyyy\\ hh:mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="10"/></cellXfs></styleSheet>',
  'xl/worksheets/sheet1.xml': SHEET(
    `<row r="1">${text('A1', 'only')}${text('B1', 'x')}</row><row r="2">${text('A2', 'hidden')}${text('B2', 'y')}</row>`,
  ),
  'xl/worksheets/sheet2.xml': SHEET(
    `<row r="1">${text('B1', 'Trees of the city')}</row>` +
      `<row r="3">${text('B3', 'Name')}${text('C3', 'Planted')}${text('D3', 'Seen')}${text('E3', 'Share')}${text('F3', 'Old')}</row>` +
      `<row r="4">${text('B4', 'Oak')}${number('C4', 43_831, 1)}${number('D4', 43_831.5, 2)}${number('E4', 0.25, 3)}<c r="F4" t="b"><v>1</v></c></row>` +
      `<row r="5">${text('B5', 'Elm')}${number('C5', 43_832, 1)}${text('D5', 'n/a')}<c r="E5" t="e"><v>#DIV/0!</v></c><c r="F5" t="b"><v>0</v></c></row>`,
  ),
}

t.test('workbooks', async t => {
  const xlsx = await archive(WORKBOOK)
  const { found, values, fields: types } = await understood('trees.xlsx', xlsx)
  t.strictSame(found.source.options, { header: 3 })
  t.strictSame(types, [
    'name: text',
    'planted: date',
    "seen: datetime yyyy-M-d'T'H:mm:ss",
    'share: double',
    'old: boolean',
  ])
  t.strictSame(values, [
    ['Oak', '2020-01-01', '2020-01-01T12:00:00Z', 0.25, true],
    ['Elm', '2020-01-02', null, null, false],
  ])
  t.strictSame((await understood('trees.xlsx', xlsx, { range: 'B3:C5' })).values, [
    ['Oak', '2020-01-01'],
    ['Elm', '2020-01-02'],
  ])
  t.strictSame((await understood('trees.xlsx', xlsx, { sheet: 'Notes' })).values, [['hidden', 'y']])
  t.strictSame(
    (await understood('wrong-name.csv', xlsx, { range: 'B3:B5' })).values,
    [['Oak'], ['Elm']],
    'told by its bytes',
  )
  t.strictSame(
    (await understood('in.zip', await archive({ 'a/trees.xlsx': xlsx }), { range: 'B3:B5' })).values,
    [['Oak'], ['Elm']],
  )
  const cell = (type: string, value: string, shown: string) =>
    `<table:table-cell office:value-type="${type}" office:${value}><text:p>${shown}</text:p></table:table-cell>`
  const ods = await archive({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content><office:body><office:spreadsheet><table:table table:name="S"><table:table-row>${cell('string', 'x="1"', 'Name')}${cell('string', 'x="1"', 'Day')}${cell('string', 'x="1"', 'N')}</table:table-row><table:table-row>${cell('string', 'x="1"', 'Oak')}${cell('date', 'date-value="2020-01-01"', '1.1.20')}${cell('float', 'value="1.5"', '1,5')}</table:table-row><table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`,
  })
  const sheet = await understood('trees.ods', ods)
  t.strictSame(
    [sheet.fields, sheet.values],
    [['name: text', 'day: date', 'n: double'], [['Oak', '2020-01-01', 1.5]]],
  )
})

const XML_SHEET = (rows: string, styles = '') =>
  `<?xml version="1.0"?><Workbook xmlns:ss="s">${styles}<Worksheet ss:Name="S"><Table>${rows}</Table></Worksheet></Workbook>`
const xmlCell = (
  value: string | number,
  attributes = '',
  type = typeof value === 'number' ? 'Number' : 'String',
) => `<Cell${attributes}><Data ss:Type="${type}">${value}</Data></Cell>`

t.test('cells of SpreadsheetML stand behind those that are merged before them', async t => {
  const rows = [
    [xmlCell('name'), xmlCell('from'), xmlCell('to'), xmlCell('n')],
    [xmlCell('A'), xmlCell(1), xmlCell(2), xmlCell(3)],
    [xmlCell('B'), xmlCell(4, ' ss:MergeAcross="1"'), xmlCell(5)],
    [xmlCell('C', ' ss:MergeAcross="1"'), xmlCell(6, ' ss:Index="4"')],
  ]
  const xml = XML_SHEET(rows.map(cells => `<Row>${cells.join('')}</Row>`).join(''))
  t.strictSame((await understood('merged.xls', xml)).values, [
    ['A', 1, 2, 3],
    ['B', 4, null, 5],
    ['C', null, null, 6],
  ])
})

t.test('cells of SpreadsheetML are what their formats show', async t => {
  const formats = ['Short Time', '[h]:mm:ss', '00000', 'Short Date', 'h:mm', 'Standard']
  const styles = formats.map(
    (format, at) => `<Style ss:ID="s${at}"><NumberFormat ss:Format="${format}"/></Style>`,
  )
  const row = (time: string, long: string, code: number, day: string, moment: string, plain: number) =>
    `<Row>${[
      xmlCell(time, ' ss:StyleID="s0"', 'DateTime'),
      xmlCell(long, ' ss:StyleID="s1"', 'DateTime'),
      xmlCell(code, ' ss:StyleID="s2"'),
      xmlCell(day, ' ss:StyleID="s3"', 'DateTime'),
      xmlCell(moment, ' ss:StyleID="s4"', 'DateTime'),
      xmlCell(plain, ' ss:StyleID="s5"'),
    ].join('')}</Row>`
  const heads = `<Row>${['time', 'long', 'code', 'day', 'moment', 'plain'].map(name => xmlCell(name)).join('')}</Row>`
  const first = ['1899-12-31T10:30:00.000', '1900-01-01T02:00:00.000', 42] as const
  const second = ['1899-12-31T11:30:15.500', '1900-03-01T00:00:00.000', 43] as const
  const xml = XML_SHEET(
    heads +
      row(...first, '2024-01-31T00:00:00.000', '2024-01-31T12:30:00.000', 1234.5) +
      row(...second, '2024-02-01T00:00:00.000', '2024-02-01T12:30:00.000', 2),
    `<Styles>${styles.join('')}</Styles>`,
  )
  const { fields, values } = await understood('formats.xls', xml)
  t.strictSame(values, [
    ['10:30:00', '26:00:00', '00042', '2024-01-31', '2024-01-31T12:30:00Z', 1234.5],
    ['11:30:15.5', '1464:00:00', '00043', '2024-02-01', '2024-02-01T12:30:00Z', 2],
  ])
  t.match(fields, [
    'time: text',
    'long: text',
    'code: text',
    'day: date',
    /^moment: datetime/,
    'plain: double',
  ])
})

t.test('numbers and booleans without text are no values', async t => {
  const book = XML_SHEET(
    [
      [xmlCell('n'), xmlCell('b'), xmlCell('t')],
      [xmlCell(1), xmlCell('1', '', 'Boolean'), xmlCell('x')],
      [xmlCell('', '', 'Number'), xmlCell('', '', 'Boolean'), xmlCell('y')],
    ]
      .map(cells => `<Row>${cells.join('')}</Row>`)
      .join(''),
  )
  t.strictSame((await understood('empty.xls', book)).values[1], [null, null, 'y'])
  const place = (open: string) =>
    `<Placemark><ExtendedData><SchemaData><SimpleData name="open">${open}</SimpleData></SchemaData></ExtendedData></Placemark>`
  const kml = `<kml><Document><Schema><SimpleField name="open" type="bool"/></Schema>${place('1')}${place(' ')}${place('0')}</Document></kml>`
  t.strictSame(
    (await understood('empty.kml', kml)).values.map(([open]) => open),
    [true, null, false],
  )
  const xml = '<r xmlns:xsi="x"><b><n xsi:nil="1"/><m>1</m></b><b><n>5</n><m>2</m></b></r>'
  t.strictSame((await understood('nil.xml', xml)).values, [
    [null, 1],
    [5, 2],
  ])
})

t.test('comments of SpreadsheetML are no part of their cells', async t => {
  const cell = (type: string, text: string, after = '') =>
    `<Cell><Data ss:Type="${type}">${text}</Data>${after}</Cell>`
  const comment = '<Comment ss:Author="Ann"><ss:Data><Font>Ann:</Font> an estimate</ss:Data></Comment>'
  const book = `<?xml version="1.0"?>
<Workbook xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="A"><Table>
<Row>${cell('String', 'n')}${cell('String', 'b')}</Row>
<Row>${cell('Number', '1.5', comment)}${cell('String', 'x')}</Row>
<Row>${cell('Number', '2')}<Cell>${comment}</Cell></Row>
</Table></Worksheet></Workbook>`
  t.strictSame((await understood('comments.xls', book)).values, [
    [1.5, 'x'],
    [2, null],
  ])
})

t.test('formats of dates that Chinese, Japanese and Korean programs have built in', async t => {
  const formats = [27, 28, 29, 30, 31, 36, 50, 51, 54, 57, 58, 32, 33, 34, 35, 52, 53, 55, 56]
  const cells = (number: (at: number) => number) =>
    formats.map((_, at) => `<c s="${at}"><v>${number(at)}</v></c>`).join('')
  const heads = formats.map(format => `<c t="inlineStr"><is><t>f${format}</t></is></c>`).join('')
  const styles = formats.map(format => `<xf numFmtId="${format}"/>`).join('')
  const sheet = SHEET(`<row>${heads}</row><row>${cells(() => 45_292)}</row><row>${cells(() => 0.5)}</row>`)
  const { values } = await understood(
    'built-in.xlsx',
    await archive({
      ...WORKBOOK,
      'xl/styles.xml': `<styleSheet><cellXfs>${styles}</cellXfs></styleSheet>`,
      'xl/worksheets/sheet2.xml': sheet,
    }),
    { header: 1 },
  )
  t.strictSame([...new Set(values[0]?.map(value => String(value).slice(0, 10)))], ['2024-01-01'])
  t.strictSame(
    [...new Set(values[1]?.slice(11))],
    ['12:00:00'],
    'hours of those that show them in one language',
  )
})

t.test('a declared encoding is used, whatever the bytes look like', async t => {
  const rows = 'имя;город\nИван;Москва\n'
  const cases = [
    ['utf-16le', Buffer.from(rows, 'utf16le')],
    ['utf-16be', Buffer.from(rows, 'utf16le').swap16()],
    ['utf-32', utf32(rows)],
    ['utf-32be', utf32(rows).swap32()],
  ] as const
  for (const [encoding, content] of cases) {
    const { values, found } = await understood('declared.csv', content, { encoding })
    t.strictSame(values, [['Иван', 'Москва']], encoding)
    t.match(found.source.options, { encoding })
  }
  const names = Buffer.from('[{ "name": "Caf\x8e" }]', 'latin1')
  t.same((await understood('names.json', names, { encoding: 'MacRoman' })).values, [['Café']])
  const unknown = await understood('unknown.json', names, { encoding: '[]' }).catch(error => faultText(error))
  t.match(unknown, 'The encoding "[]" is not known.')
  const cut = await understood('cut.csv', utf32(rows).subarray(0, -2), { encoding: 'utf-32' }).catch(
    faultText,
  )
  t.match(cut, /cut.csv:2:12: The text is not utf-32le at byte 84/)
})

t.test('cells of workbooks are what their formats show', async t => {
  const formats = ['[h]:mm', 'hh:mm', '00000', '[mm]:ss', '00000\\-0', 'd/m/yyyy', '[Red]h:mm', '0']
  const workbook = (rows: string, properties = 'date1904="false"') => ({
    ...WORKBOOK,
    'xl/workbook.xml': `<workbook><workbookPr ${properties}/><sheets><sheet name="Data" id="r2"/></sheets></workbook>`,
    'xl/styles.xml': `<styleSheet><numFmts>${formats.map((code, i) => `<numFmt numFmtId="${170 + i}" formatCode="${code}"/>`).join('')}</numFmts><cellXfs><xf numFmtId="0"/>${formats.map((_, i) => `<xf numFmtId="${170 + i}"/>`).join('')}<xf numFmtId="46"/></cellXfs></styleSheet>`,
    'xl/worksheets/sheet2.xml': SHEET(rows),
  })
  const column = async (cells: readonly (readonly [value: number, style: number])[], properties?: string) => {
    const rows = cells.map(
      ([value, style], i) =>
        `<row r="${i + 2}">${number(`A${i + 2}`, value, style)}${text(`B${i + 2}`, 'x')}</row>`,
    )
    const header = `<row r="1">${text('A1', 'v')}${text('B1', 'w')}</row>`
    const { values } = await understood(
      'formats.xlsx',
      await archive(workbook(header + rows.join(''), properties)),
    )
    return values.map(([value]) => value)
  }
  const durations = [
    [7.5 / 24, 1],
    [26 / 24, 1],
    [100 / 24 + 5 / 1440, 1],
    [-0.5, 1],
    [1.5, 9],
    [90 / 1440, 4],
    [61.5 / 86_400, 4],
    [-59.99 / 86_400, 1],
    [61.9999999 / 86_400, 4],
  ] as const
  const shown = [
    '07:30:00',
    '26:00:00',
    '100:05:00',
    '-12:00:00',
    '36:00:00',
    '01:30:00',
    '00:01:01.5',
    '-00:00:59.99',
    '00:01:02',
  ]
  t.strictSame(await column(durations), shown)
  t.strictSame(await column(durations, 'date1904="1"'), shown, 'durations do not depend on the first day')
  const times = [
    [7.5 / 24, 2],
    [26 / 24, 1],
    [25 / 24, 7],
  ] as const
  t.strictSame(await column(times), ['07:30:00', '26:00:00', '25:00:00'], 'formats of one column may differ')
  t.strictSame(await column([[0.25, 2]], 'date1904="true"'), ['06:00:00'])
  t.strictSame(
    await column([[43_831.5, 2]]),
    ['2020-01-01T12:00:00Z'],
    'a moment of which hours alone are shown',
  )
  const days = [
    [1, 6],
    [59, 6],
    [61, 6],
    [36_526, 6],
  ] as const
  t.strictSame(await column(days), ['1900-01-01', '1900-02-28', '1900-03-01', '2000-01-01'], 'as in Excel')
  t.strictSame(
    await column(days, 'dateCompatibility="0"'),
    ['1899-12-31', '1900-02-27', '1900-03-01', '2000-01-01'],
    'without the 29th of February 1900',
  )
  t.strictSame(
    await column(days, 'date1904="1"'),
    ['1904-01-02', '1904-02-29', '1904-03-02', '2004-01-02'],
    'from 1904 on',
  )
  t.strictSame(
    await column([
      [1234, 3],
      [75001, 3],
    ]),
    ['01234', '75001'],
  )
  t.strictSame(await column([[12, 5]]), [12], 'a format with other signs')
  t.strictSame(await column([[12, 8]]), [12], 'a single zero is a number')
})

/** An OpenDocument spreadsheet of one sheet, from the elements of the cells of each row. */
function odsOf(rows: readonly (readonly string[])[]): Promise<Buffer> {
  const sheet = rows.map(cells => `<table:table-row>${cells.join('')}</table:table-row>`).join('')
  return archive({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content><office:body><office:spreadsheet><table:table table:name="S">${sheet}</table:table></office:spreadsheet></office:body></office:document-content>`,
  })
}

const odsCell = (shown: string, attributes = 'office:value-type="string"') =>
  `<table:table-cell ${attributes}>${shown === '' ? '' : `<text:p>${shown}</text:p>`}</table:table-cell>`

t.test('times of OpenDocument spreadsheets are durations of any form', async t => {
  const cases = [
    ['PT09H30M00S', '09:30:00'],
    ['PT00H00M01.5S', '00:00:01.5'],
    ['PT00H01M59.490000001S', '00:01:59.49'],
    ['PT09H29M59.999999997S', '09:30:00'],
    ['PT1H', '01:00:00'],
    ['P1DT2H', '26:00:00'],
    ['PT90M', '01:30:00'],
    ['-PT01H00M00S', '-01:00:00'],
    ['P1Y2M', 'P1Y2M'],
    ['P', 'shown'],
    ['PT', 'shown'],
  ] as const
  const rows = cases.map(([value]) => [
    odsCell('shown', `office:value-type="time" office:time-value="${value}"`),
    odsCell('x'),
  ])
  const { values } = await understood('times.ods', await odsOf([[odsCell('v'), odsCell('w')], ...rows]))
  t.strictSame(
    values.map(([value]) => value),
    cases.map(([, expected]) => expected),
  )
})

t.test('errors and formulas without stored values have no value, and are reported', async t => {
  const formula = (place: string, stored = '', type = '') =>
    `<c r="${place}"${type === '' ? '' : ` t="${type}"`}><f>A1</f>${stored}</c>`
  const row = (number: number, ...cells: readonly string[]) => `<row r="${number}">${cells.join('')}</row>`
  const xlsx = {
    ...WORKBOOK,
    'xl/worksheets/sheet2.xml': SHEET(
      row(1, text('A1', 'Title'), formula('C1')) +
        row(2, text('A2', 'name'), text('B2', 'n'), text('C2', 'note')) +
        row(3, text('A3', 'a'), formula('B3', '<v></v>'), formula('C3', '<v></v>', 'str')) +
        row(4, text('A4', 'b'), formula('B4', '<v>7</v>'), formula('C4', '<v>#N/A</v>', 'e')) +
        row(5, text('A5', 'c'), formula('B5'), formula('C5', '', 'str')),
    ),
  }
  const calculated = (type: string) => `table:formula="of:=[.A1]" ${type}`
  const ods = odsOf([
    ['name', 'n', 'note'].map(name => odsCell(name)),
    [odsCell('a'), odsCell('', calculated('')), odsCell('', calculated('office:value-type="string"'))],
    [
      odsCell('b'),
      odsCell('7', calculated('office:value-type="float" office:value="7"')),
      odsCell(
        '#N/A',
        calculated('office:value-type="string" office:string-value="" calcext:value-type="error"'),
      ),
    ],
    [
      odsCell('c'),
      odsCell('', calculated('')),
      odsCell('Err:502', calculated('office:value-type="string" office:string-value=""')),
    ],
  ])
  const data = (type: string, value: string) => `<Data ss:Type="${type}">${value}</Data>`
  const xml = `<Workbook xmlns:ss="s"><Worksheet ss:Name="S"><Table>${[
    ['name', 'n', 'note'].map(name => `<Cell>${data('String', name)}</Cell>`),
    [`<Cell>${data('String', 'a')}</Cell>`, '<Cell ss:Formula="=R1C1"/>', '<Cell/>'],
    [
      `<Cell>${data('String', 'b')}</Cell>`,
      `<Cell ss:Formula="=1">${data('Number', '7')}</Cell>`,
      `<Cell>${data('Error', '#N/A')}</Cell>`,
    ],
  ]
    .map(cells => `<Row>${cells.join('')}</Row>`)
    .join('')}</Table></Worksheet></Workbook>`
  const cases = [
    [
      'f.xlsx',
      await archive(xlsx),
      /of 3 cells with a formula.*\(B3, B5, C5\)/,
      /of 1 cell with an error \(C4: #N\/A\)/,
    ],
    [
      'f.ods',
      await ods,
      /of 2 cells with a formula.*\(B2, B4\)/,
      /of 2 cells with an error \(C3: #N\/A, C4: Err:502\)/,
    ],
    ['f.xml', Buffer.from(xml), /of 1 cell with a formula.*\(B2\)/, /of 1 cell with an error \(C3: #N\/A\)/],
  ] as const
  for (const [name, content, ...warnings] of cases) {
    const options = name === 'f.xlsx' ? { header: 2 } : undefined
    const { values, found } = await understood(name, content, options)
    t.strictSame(
      values.slice(0, 2),
      [
        ['a', null, null],
        ['b', 7, null],
      ],
      name,
    )
    const lost = found.diagnostics.filter(it => it.startsWith('no value is read'))
    t.equal(lost.length, 2, name)
    t.match(lost, warnings, name)
  }
})

t.test('a publication and check name the sheets that are left out, and what a file lost', async t => {
  const portal = temporaryFolder(t, { data: {} })
  const context = { portal, base: 'http://localhost', versions: versionsOf(portal), now: () => new Date() }
  writeFileSync(join(portal, 'data', 'trees.xlsx'), await archive(WORKBOOK))
  const warnings = [
    'the sheet is "Data"; left out: "Notes" (hidden)',
    '1 row above the header left out',
    'no value is read of 1 cell with an error (E5: #DIV/0!): correct the formulas',
  ]
  t.match(await publishDataset('trees', context), { type: 'published', report: { warnings } })
  const messages = (await checkDataset(portal, context.base, 'trees')).map(({ message }) => message)
  t.strictSame(
    messages.slice(1),
    warnings.map(warning => `trees.xlsx: ${warning}`),
  )
})

t.test('cells that are merged over several rows are reported', async t => {
  const region = odsCell('North', 'office:value-type="string" table:number-rows-spanned="2"')
  const ods = await odsOf([
    [odsCell('region'), odsCell('city')],
    [region, odsCell('A')],
    ['<table:covered-table-cell/>', odsCell('B')],
    [odsCell('South'), odsCell('C')],
  ])
  const { found } = await understood('merged.ods', ods)
  t.match(found.diagnostics, [/merged over several rows \(A2:A3\): the first row has the value/])
  const rows = [
    ['region', 'city'],
    ['North', 'A'],
    [null, 'B'],
    ['South', 'C'],
    ['West', 'D'],
  ].map((cells, at) => {
    const filled = cells.flatMap((cell, i) => (cell === null ? [] : [text(`${'AB'[i]}${at + 2}`, cell)]))
    return `<row r="${at + 2}">${filled.join('')}</row>`
  })
  const sheet = (ranges: readonly string[]) =>
    SHEET(`<row r="1">${text('A1', 'Cities of regions')}</row>${rows.join('')}`).replace(
      '</sheetData>',
      `</sheetData><mergeCells>${ranges.map(range => `<mergeCell ref="${range}"/>`).join('')}</mergeCells>`,
    )
  const cases: readonly (readonly [ranges: readonly string[], warnings: readonly RegExp[]])[] = [
    [['A3:A4'], [/merged over several rows \(A3:A4\): the first row has the value/]],
    [['A1:B1', 'A1:A2', 'A4:B5', 'B3:B3'], []],
  ]
  for (const [ranges, warnings] of cases) {
    const files = { ...WORKBOOK, 'xl/worksheets/sheet2.xml': sheet(ranges) }
    const { values, found } = await understood('merged.xlsx', await archive(files))
    t.equal(values.length, 4)
    const merged = found.diagnostics.filter(it => it.includes('merged'))
    t.equal(merged.length, warnings.length)
    t.match(merged, warnings)
  }
})

t.test('names of code pages as programs write them into a .cpg', async t => {
  for (const [cpg, name] of [
    ['88592', latin('\xa3\xf3d\xbc')],
    ['8859_2', latin('\xa3\xf3d\xbc')],
    ['8859-2', latin('\xa3\xf3d\xbc')],
    ['ANSI 1250', latin('\xa3\xf3d\x9f')],
    ['1250', latin('\xa3\xf3d\x9f')],
    ['852', latin('\x9d\xa2d\xab')],
    ['OEM 852', latin('\x9d\xa2d\xab')],
    ['65001', Buffer.from('Łódź')],
  ] as const) {
    const parts = { ...shapefileOf([name, latin('Krak')]), 'a.cpg': cpg }
    const { values, found } = await understood('cpg.zip', await archive(parts))
    t.strictSame([values[0]?.[1], found.diagnostics], ['Łódź', []], cpg)
  }
  for (const [cpg, bytes, name] of [
    ['936', '\xb9\xe3\xd6\xdd', '广州'],
    ['ANSI 932', '\x93\x8c\x8b\x9e', '東京'],
    ['CP949', '\xba\xce\xbb\xea', '부산'],
    ['950', '\xa5x\xa5_', '台北'],
  ] as const) {
    const parts = { ...shapefileOf([latin(bytes)]), 'a.cpg': cpg }
    const { values, found } = await understood('cpg.zip', await archive(parts))
    t.strictSame([values[0]?.[1], found.diagnostics], [name, []], cpg)
  }
})

t.test('texts and names of a .dbf that end within a character', async t => {
  const cut = Buffer.from('abcdefghiğ').subarray(0, 10)
  for (const [cpg, bytes, expected] of [
    ['UTF-8', cut, 'abcdefghi'],
    [null, cut, 'abcdefghi'],
    ['936', latin('a\xb9\xe3\xd6\xdd\xb9\xe3\xd6\xdd\xb9'), 'a广州广州'],
    ['1252', latin('abcdefghi\xe9'), 'abcdefghié'],
    [null, latin('abcdefghi\xe9'), 'abcdefghié'],
  ] as const) {
    const others = cpg === null && bytes !== cut ? [latin('\xe9t\xe9')] : [Buffer.from('Łódź')]
    const table = shapefileOf([bytes, ...(cpg === null ? others : [])])
    const { values } = await understood(
      'cut.zip',
      await archive({ ...table, ...(cpg === null ? {} : { 'a.cpg': cpg }) }),
    )
    t.equal(values[0]?.[1], expected, String(cpg))
  }
  const { 'a.dbf': table = Buffer.alloc(0), ...parts } = shapefileOf([latin('\xb9\xe3')])
  table.fill(0, 64, 75)
  latin('\xc3\xfb\xb3\xc6\xc3\xfb\xb3\xc6\xc3\xfb\xb3').copy(table, 64)
  const { found } = await understood('names.zip', await archive({ ...parts, 'a.dbf': table, 'a.cpg': 'GBK' }))
  t.match(
    found.fields.map(({ label, name }) => label ?? name),
    [/id/, /^名称名称名$/],
  )
  await t.rejects(
    understood('wrong.zip', await archive({ ...shapefileOf([latin('caf\xe9')]), 'a.cpg': 'UTF-8' })),
  )
})

t.test('the code page in the header of a .dbf', async t => {
  for (const [id, bytes, name] of [
    [0x64, latin('\x9d\xa2d\xab'), 'Łódź'],
    [0x87, latin('\x9d\xa2d\xab'), 'Łódź'],
    [0x87, Buffer.from('Łódź'), 'Łódź'],
    [0x86, latin('\x80\x9f\xe3\xa4\x98'), 'Αθήνα'],
    [0x66, latin('\x9dre'), 'Øre'],
    [0x4d, latin('\xb9\xe3\xd6\xdd'), '广州'],
  ] as const) {
    const { 'a.dbf': table = Buffer.alloc(0), ...parts } = shapefileOf([bytes])
    table[29] = id
    const { values, found } = await understood('header.zip', await archive({ ...parts, 'a.dbf': table }))
    t.strictSame([values[0]?.[1], found.diagnostics], [name, []], String(id))
  }
})

t.test('the name of a code page in a .cpg that is not known is reported', async t => {
  const parts = { ...shapefileOf([latin('Évreux'), latin('Paris')]), 'a.cpg': '708' }
  const { found } = await understood('odd.zip', await archive(parts))
  t.match(found.diagnostics, [/^the text is latin-1, because "708" of its \.cpg is not known/])
})

t.test('tracks of KML, alone and several of a placemark', async t => {
  const track = (x: number) =>
    `<gx:Track><gx:coord>${x} 48 9</gx:coord><gx:coord>${x} 49 9</gx:coord></gx:Track>`
  const places = [track(1), `<gx:MultiTrack>${track(2)}${track(3)}</gx:MultiTrack>`].map(
    (shape, at) => `<Placemark><name>${at}</name>${shape}</Placemark>`,
  )
  const kml = `<kml xmlns:gx="g"><Document>${places.join('')}</Document></kml>`
  const line = (x: number) => [
    [x, 48],
    [x, 49],
  ]
  t.strictSame(
    (await understood('tracks.kml', kml)).values.map(([, shape]) => shape),
    [
      { type: 'LineString', coordinates: line(1) },
      { type: 'MultiLineString', coordinates: [line(2), line(3)] },
    ],
  )
})

t.test('the encoding of a shapefile that declares none is guessed from its texts, and reported', async t => {
  const reported = /^the text is latin-1, which no \.cpg declares/
  const cases: readonly (readonly [names: readonly Buffer[], expected: readonly string[], RegExp | null])[] =
    [
      [[latin('Évreux'), latin('Paris')], ['Évreux', 'Paris'], reported],
      [[latin('Éàü'), latin('èé')], ['Éàü', 'èé'], reported],
      [[Buffer.from('Évreux'), Buffer.from('東京')], ['Évreux', '東京'], null],
      [[latin('Paris'), latin('Lyon')], ['Paris', 'Lyon'], null],
    ]
  for (const [names, expected, warning] of cases) {
    const parts = shapefileOf(names)
    const { values, found } = await understood('encoding.zip', await archive(parts))
    t.strictSame(
      values.map(([, name]) => name),
      expected,
    )
    t.equal(found.fields[1]?.label, 'straße')
    t.equal(found.diagnostics.length, warning === null ? 0 : 1)
    if (warning !== null) t.match(found.diagnostics[0], warning)
  }
})

/** The parts of a shapefile of points with a number and a name. */
function shapefileOf(names: readonly Buffer[]): Readonly<Record<string, Buffer>> {
  const point = Buffer.alloc(28)
  point.writeInt32BE(10, 4)
  point.writeInt32LE(1, 8)
  const header = Buffer.alloc(100)
  header.writeInt32BE(9994, 0)
  header.writeInt32LE(1000, 28)
  const head = Buffer.alloc(32 + 2 * 32 + 1)
  head.writeUInt16LE(head.length, 8)
  head.writeUInt16LE(12, 10)
  head.write('id', 32)
  head.write('N', 32 + 11)
  head[32 + 16] = 1
  head.write('stra\xdfe', 64, 'latin1')
  head.write('C', 64 + 11)
  head[64 + 16] = 10
  head[96] = 0x0d
  const records = names.map((name, at) => {
    const record = Buffer.alloc(12, ' ')
    record.write(String(at), 1)
    name.copy(record, 2)
    return record
  })
  return {
    'a.shp': Buffer.concat([header, ...names.map(() => point)]),
    'a.dbf': Buffer.concat([head, ...records]),
  }
}

t.test('datums that are not shifted are reported, and systems that are not known refused', async t => {
  const collection = (name: string) => ({
    type: 'FeatureCollection',
    crs: { type: 'name', properties: { name } },
    features: [{ type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: [5e5, 4e6] } }],
  })
  const nad27 = /^positions of NAD27 are not shifted .* up to 100 metres/
  for (const [name, warning] of [
    ['EPSG:26715', nad27],
    ['EPSG:5646', undefined],
    ['EPSG:25832', undefined],
    ['EPSG:31370', undefined],
    ['EPSG:3857', undefined],
    ['EPSG:3027', /^positions are not shifted .* some hundred metres/],
  ] as const) {
    const { found } = await understood('datum.geojson', JSON.stringify(collection(name)))
    t.match(found.diagnostics, warning === undefined ? [] : [warning], name)
    t.equal(found.diagnostics.length, warning === undefined ? 0 : 1, name)
  }
  const utm =
    'PROJCS["NAD_1927_UTM_Zone_15N",GEOGCS["GCS_North_American_1927",DATUM["D_North_American_1927",SPHEROID["Clarke_1866",6378206.4,294.9786982]],' +
    'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],' +
    'PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-93.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]'
  const parts = { ...shapefileOf([latin('x')]), 'a.prj': utm }
  t.match((await understood('nad27.zip', await archive(parts))).found.diagnostics, [nad27])
  for (const [name, way] of [
    ['urn:ogc:def:crs:EPSG::99999', /knows the code/],
    ['ESRI:102003', /name there the EPSG code/],
  ] as const) {
    const refused = understood('unknown.geojson', JSON.stringify(collection(name)))
    await t.rejects(refused, { message: new RegExp(`is not known: ${name}\\.`), hint: way })
  }
})

t.test('hidden sheets of SpreadsheetML are named, and left out', async t => {
  const sheet = (name: string, value: string, visible = '') =>
    `<Worksheet ss:Name="${name}"><Table>${['a', value, value].map(it => `<Row>${`<Cell><Data ss:Type="String">${it}</Data></Cell>`.repeat(2)}</Row>`).join('')}</Table>` +
    `<WorksheetOptions xmlns="urn:schemas-microsoft-com:office:excel">${visible}</WorksheetOptions></Worksheet>`
  const hidden = ['SheetHidden', 'SheetVeryHidden'].map(it => sheet(it, 'list', `<Visible>${it}</Visible>`))
  const { values, found } = await understood(
    'hidden.xml',
    `<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Visible>SheetHidden</Visible>${hidden.join('')}${sheet('Data', 'tree')}</Workbook>`,
  )
  t.strictSame(values[0], ['tree', 'tree'])
  t.match(found.diagnostics, [
    'the sheet is "Data"; left out: "SheetHidden" (hidden), "SheetVeryHidden" (hidden)',
  ])
})

t.test('hidden sheets are named, and left out', async t => {
  const { found } = await understood('trees.xlsx', await archive(WORKBOOK))
  t.match(found.diagnostics, ['the sheet is "Data"; left out: "Notes" (hidden)'])
  const table = (name: string, style: string, rows: readonly (readonly string[])[]) =>
    `<table:table table:name="${name}" table:style-name="${style}">${rows
      .map(cells => `<table:table-row>${cells.join('')}</table:table-row>`)
      .join('')}</table:table>`
  const cell = (shown: string) =>
    `<table:table-cell office:value-type="string"><text:p>${shown}</text:p></table:table-cell>`
  const code = (value: string, shown: string) =>
    `<table:table-cell office:value-type="float" office:value="${value}"><text:p>${shown}</text:p></table:table-cell>`
  const styles = ['true', 'false'].map(
    shown =>
      `<style:style style:name="shown-${shown}" style:family="table"><style:table-properties table:display="${shown}"/></style:style>`,
  )
  const ods = await archive({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content><office:automatic-styles>${styles.join('')}</office:automatic-styles><office:body><office:spreadsheet>${
      table('Lists', 'shown-false', [
        [cell('a'), cell('b')],
        [cell('x'), cell('y')],
      ]) +
      table('Places', 'shown-true', [
        [cell('Code'), cell('N')],
        [code('1234', '01234'), code('5', '5')],
        [code('75001', '75001'), code('0.5', '00.5')],
      ])
    }</office:spreadsheet></office:body></office:document-content>`,
  })
  const sheet = await understood('hidden.ods', ods)
  t.match(sheet.found.diagnostics, ['the sheet is "Places"; left out: "Lists" (hidden)'])
  t.strictSame(sheet.values, [
    ['01234', 5],
    ['75001', 0.5],
  ])
})

t.test('archives', async t => {
  const csv = 'a;b\n1;2\n'
  for (const name of ['licensed-taxis.csv', 'licences.csv', 'metadata_2024.csv']) {
    const only = await understood('only.zip', await archive({ [name]: csv, 'LICENSE.txt': 'free' }))
    t.strictSame(only.values, [[1, 2]], name)
  }
  const both = await archive({
    'API.csv': csv,
    'Metadata_Country_API.csv': 'x;y\n3;4\n',
    'licenses.csv': 'z\n',
  })
  t.strictSame((await understood('both.zip', both)).values, [[1, 2]], 'beside others they are none')
  t.strictSame(
    (
      await understood(
        'one.zip',
        await archive({
          'readme.txt': 'x',
          'doc/Liesmich.txt': 'x',
          'data/t.csv': csv,
          'data/Thumbs.db': 'x',
          '__MACOSX/._t.csv': 'x',
        }),
      )
    ).values,
    [[1, 2]],
  )
  const two = await archive({ 'one.csv': csv, 'two.csv': 'c\n5\n' })
  t.strictSame((await understood('two.zip', two, { file: 'two.csv' })).values, [[5]])
  for (const name of ['trees.geojsonl', 'trees.trig', 'trees.pq', 'trees.gpkg'])
    await t.rejects(
      understood('named.zip', await archive({ [name]: 'x', 'notes.txt': 'a\n' })),
      /2 files of data, and one has to be chosen/,
      name,
    )
  t.strictSame((await understood('lines.zip', await archive({ 't.jsonl': '{"a":1}\n{"a":2}\n' }))).values, [
    [1],
    [2],
  ])
})

t.test('long runs of one character are read in linear time', async t => {
  const place = (name: string, coordinates: string) =>
    `<Placemark><name>${name}</name><Point><coordinates>${coordinates}</coordinates></Point></Placemark>`
  const blanks = ' '.repeat(100_000)
  const places = place('A', `${blanks}2 ,${blanks}48${blanks}3`) + place('B', '3,47')
  const begun = performance.now()
  const kml = await understood('a.kml', `<kml><Document>${places}</Document></kml>`)
  t.strictSame(kml.values[0], ['A', { lon: 2, lat: 48 }])
  t.equal(converterOf('double', undefined, 'UTC')(`${'0'.repeat(100_000)}x`), undefined)
  const padded = await understood('padded.csv', `a;b\n x${blanks}y ;1\n z ;2\n`)
  t.strictSame(padded.values[1], [' z ', 2])
  t.ok(performance.now() - begun < 8000, `${Math.round(performance.now() - begun)} ms`)
})

t.test('hostile and hopeless files are refused, with the way out', async t => {
  const bomb = gzipSync(Buffer.alloc(300 * 2 ** 20, '1,2\n'))
  const outside = await archive({ '../../etc/passwd.csv': 'a\n1\n' })
  const lying = zipOf('t.csv', Buffer.from(`a\n${'1\n'.repeat(1000)}`), 5)
  const short = Buffer.from(
    parquetLibrary().parquetWriteBuffer({
      columnData: [{ name: 'n', data: Array.from({ length: 1000 }, (_, at) => at), type: 'INT32' }],
    }),
  )
  // The number of rows of the only group: 1,000 becomes 8,168.
  short[short.lastIndexOf(Buffer.from([0xd0, 0x0f])) + 1] = 0x7f
  const cases: readonly (readonly [name: string, content: string | Buffer, told: RegExp])[] = [
    [
      'wide.kml',
      `<kml><Document><Schema>${'<SimpleField name="f"/>'.repeat(5000)}</Schema><Placemark/></Document></kml>`,
      /table has 5000 columns, and at most 4000/,
    ],
    [
      'empty.xlsx',
      await archive({ ...WORKBOOK, 'xl/sharedStrings.xml': `<sst>${'<si/>'.repeat(1_000_001)}</sst>` }),
      /more than 1000000 shared texts that are empty/,
    ],
    ['short.parquet', short, /a row group of 8168 rows has columns of fewer/],
    [
      'packed.tar',
      Buffer.concat([Buffer.alloc(257), Buffer.from('ustar')]),
      /archive of tar[\s\S]*zip or gz/,
    ],
    ['flipped.zip', zipOf('t.csv', Buffer.from('a\n1\n'), 4), /checksum of the file/],
    ['bomb.csv.gz', bomb, /unpack to more than .* bomb/],
    ['outside.zip', outside, /path leads out of it/],
    ['lying.zip', lying, /unpacks to more than the 5 bytes/],
    ['cut.zip', (await archive({ 't.csv': 'a\n1\n' })).subarray(0, 40), /no list of its members/],
    [
      'two.zip',
      await archive({ 'one.csv': 'a\n1\n', 'two.csv': 'c\n5\n' }),
      /2 files of data[\s\S]*options: \{ file: one.csv \}/,
    ],
    [
      'in.zip',
      await archive({ 'in.zip': await archive({ 't.csv': 'a\n1\n' }) }),
      /a ZIP archive within a ZIP/,
    ],
    ['locked.zip', patchedZip(6, 1), /is encrypted/],
    ['lzma.zip', patchedZip(8, 14), /packed by method 14 of ZIP/],
    ['none.zip', await archive({}), /no file of data\.\s+It is empty/],
    ['wide.csv', `${'a,'.repeat(1_000_000)}a\n`, /more than 20000 cells/],
    [
      'wide.json',
      `[{${Array.from({ length: 3000 }, (_, i) => `"c${i}":1`).join(',')}}]`,
      /at most 1000 fields/,
    ],
    [
      'entities.xml',
      '<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z SYSTEM "file:///etc/passwd">]><a><b>&z;</b><b>&x;</b></a>',
      /declares entities/,
    ],
    ['page.csv', '<!DOCTYPE html><html><body>Not found</body></html>', /a web page/],
    [
      'old.xls',
      Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
      /before 2007[\s\S]*Save it as .xlsx/,
    ],
    ['a.pdf', '%PDF-1.7', /PDF/],
    [
      'pointer.csv',
      'version https://git-lfs.github.com/spec/v1\noid sha256:e9c820d6\nsize 164319282\n',
      /pointer of Git LFS[\s\S]*git lfs pull/,
    ],
    ['damaged.parquet', 'PAR1damagedPAR1', /cannot be read: [^.]*\.[\s\S]*DuckDB/],
    [
      'noise.bin',
      Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 7919) % 256)),
      /no text, and no format/,
    ],
    ['empty.csv', '', /empty/],
    [
      'roads.zip',
      await archive({ 'roads.gdb/a00000001.gdbtable': 'x', 'roads.gdb/timestamps': 'x' }),
      /a file geodatabase of Esri[\s\S]*GeoPackage/,
    ],
    ['streets.zip', await archive({ 's.mif': 'Version 300', 's.mid': '"a"' }), /MapInfo[\s\S]*GeoPackage/],
    ['wide.csv', 'a,b\n1,2\n3,"x, y",4\n5,6\n7,8\n', /wide.csv:3: The row has more cells .* cell 3 is "4"\./],
    ['null.csv', 'id,name\n1,é\0b\n2,c\n', /null.csv:2:4: A NUL character \(U\+0000\) was found/],
    [
      'topology.json',
      '{"type":"Topology","objects":{},"arcs":[[[0,0],[1,1]]]}',
      /TopoJSON: save it as GeoJSON/,
    ],
    ['deep.xml', `${'<a>'.repeat(2000)}${'</a>'.repeat(2000)}`, /nested more than 500 deep/],
    ['unquoted.csv', 'a,b\n1,"x\n2,y,z,\n3,w\n', /never closed/],
    [
      'cut.csv',
      '"id","name"\n"1","Ann"\n"2","Bob\n',
      /cut.csv:3:5: The quote that opens here is never closed/,
    ],
    [
      'external.xlsx',
      await archive({
        ...WORKBOOK,
        'xl/workbook.xml': '<!DOCTYPE x [<!ENTITY e SYSTEM "http://127.0.0.1/">]><workbook>&e;</workbook>',
      }),
      /declares entities/,
    ],
    [
      'repeated.ods',
      await archive({
        mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
        'content.xml':
          '<office:document-content><office:body><office:spreadsheet><table:table table:name="S"><table:table-row table:number-rows-repeated="2000000000"><table:table-cell table:number-columns-repeated="3000" office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>',
      }),
      /repeats more than 10000000 cells/,
    ],
    [
      'columns.xlsx',
      await archive({
        ...WORKBOOK,
        'xl/worksheets/sheet2.xml': SHEET(`<row r="1">${text('ZZZ1', 'x')}</row>`),
      }),
      /column 18278, and at most 4000 columns/,
    ],
    [
      'far.xlsx',
      await archive({
        ...WORKBOOK,
        'xl/worksheets/sheet2.xml': SHEET(`<row r="1">${text('A1', 'x')}${text('XFD1', 'x')}</row>`),
      }),
      /column 16384, and at most 4000 columns/,
    ],
  ]
  for (const [name, content, described] of cases) {
    const answer = await understood(name, content).then(
      ({ fields }) => `accepted: ${fields.slice(0, 5).join(', ')}`,
      (error: unknown) =>
        error instanceof Fault
          ? `${faultText(error)}${error.hint === undefined ? ' NO CURE' : ''}`
          : `no fault: ${String((error as Error).stack)}`,
    )
    t.match(answer, described, name)
    t.notMatch(answer, 'NO CURE', `${name}: the way out`)
  }
})

/** Loaded with `require`, because loaders of test runners do not support its exports. */
function parquetLibrary(): typeof import('hyparquet-writer') {
  return createRequire(import.meta.url)('hyparquet-writer') as typeof import('hyparquet-writer')
}

t.test('GeoParquet has the reference system that it declares', async t => {
  const { parquetWriteBuffer, geojsonToWkb } = parquetLibrary()
  const l93 = projJsonOf(2154) as Readonly<Record<string, unknown>>
  const cases: readonly (readonly [crs: unknown, x: number, y: number, field: string])[] = [
    [undefined, 2.3522, 48.8566, 'geo_point_2d'],
    [null, 2.3522, 48.8566, 'geo_point_2d'],
    [null, 652469.02, 6862035.26, 'text'],
    [l93, 652469.02, 6862035.26, 'geo_point_2d'],
    [{ ...l93, id: undefined }, 652469.02, 6862035.26, 'geo_point_2d'],
    [{ ...l93, id: { authority: 'IGNF', code: 'LAMB93' } }, 652469.02, 6862035.26, 'geo_point_2d'],
    [{ id: { authority: 'OGC', code: 'CRS84' } }, 2.3522, 48.8566, 'geo_point_2d'],
    [{ type: 'EngineeringCRS', name: 'quay' }, 2.35, 48.85, 'unknown'],
  ]
  for (const [crs, x, y, field] of cases) {
    const data = [geojsonToWkb({ type: 'Point', coordinates: [x, y] })]
    const columns = { place: { encoding: 'WKB', geometry_types: [], crs } }
    const value = JSON.stringify({ version: '1.1.0', primary_column: 'place', columns })
    const file = parquetWriteBuffer({
      columnData: [{ name: 'place', data, type: 'BYTE_ARRAY' }],
      kvMetadata: [{ key: 'geo', value }],
    })
    const found = understood('crs.parquet', Buffer.from(file))
    const named = `${JSON.stringify(crs)?.slice(0, 80)} ${x}`
    if (field === 'unknown') await t.rejects(found, /quay/, named)
    else t.equal((await found).fields[0], `place: ${field}`, named)
    const point =
      field === 'geo_point_2d' ? ((await found).values[0]?.[0] as { lon: number; lat: number }) : undefined
    if (point !== undefined) t.ok(Math.hypot(point.lon - 2.3522, point.lat - 48.8566) < 1e-4, named)
  }
})

/** A ZIP archive of one member that says that it has other than its bytes. */
function zipOf(name: string, content: Buffer, size: number): Buffer {
  const packed = deflateRawSync(content)
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x04034b50, 0)
  head.writeUInt16LE(8, 8)
  head.writeUInt32LE(packed.length, 18)
  head.writeUInt32LE(size, 22)
  head.writeUInt16LE(name.length, 26)
  const entry = Buffer.alloc(46)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(8, 10)
  entry.writeUInt32LE(packed.length, 20)
  entry.writeUInt32LE(size, 24)
  entry.writeUInt16LE(name.length, 28)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(46 + name.length, 12)
  end.writeUInt32LE(30 + name.length + packed.length, 16)
  return Buffer.concat([head, Buffer.from(name), packed, entry, Buffer.from(name), end])
}

/** A ZIP archive whose data are no deflate, with another number at an offset of its local header. */
function patchedZip(at: number, value: number): Buffer {
  const bytes = zipOf('t.csv', Buffer.alloc(100), 100)
  const entry = bytes.indexOf(Buffer.from('PK\x01\x02'))
  bytes.writeUInt16LE(value, at)
  bytes.writeUInt16LE(value, entry + at + 2)
  bytes.fill(0xff, 30 + 't.csv'.length, entry)
  return bytes
}

/** An archive of two files as programs write it that know nothing of UTF-8: without its flag, with the bytes of a name. */
async function unmarkedArchive(name: Buffer): Promise<Buffer> {
  const placeholder = 'x'.repeat(name.length)
  const bytes = await archive({ [placeholder]: 'n\n1\n', 'b.csv': 'n\n2\n' })
  for (let at = bytes.indexOf(placeholder); at >= 0; at = bytes.indexOf(placeholder, at)) {
    name.copy(bytes, at)
    if (bytes.readUInt32LE(Math.max(0, at - 46)) === 0x02014b50) bytes.writeUInt16LE(8, at - 38)
  }
  return bytes
}

t.test('names in archives without the flag of UTF-8', async t => {
  const decomposed = 'Bäume.csv'.normalize('NFD')
  for (const [what, raw, shown] of [
    ['UTF-8', Buffer.from('Bäume.csv'), 'Bäume.csv'],
    ['UTF-8 of macOS', Buffer.from(decomposed), decomposed],
    ['code page 437', Buffer.from('B\x84ume.csv', 'latin1'), 'Bäume.csv'],
  ] as const) {
    const bytes = await unmarkedArchive(raw)
    const advice = await understood('names.zip', bytes).then(
      () => 'no fault',
      (error: unknown) => (error instanceof Fault ? faultText(error) : Promise.reject(error)),
    )
    t.match(advice, `options: { file: ${shown} }`, what)
    t.strictSame((await understood('names.zip', bytes, { file: 'Bäume.csv' })).values, [[1]], what)
  }
})

t.test('undecidable days are asked for', async t => {
  const { found } = await understood('which.csv', 'd,n\n05/03/2020,1\n06/04/2020,2\n')
  t.match(found.columns[0]?.suggestion, /where months come first, say format: M\/d\/yyyy/)
  const near = await understood('near.csv', `n,m\n${'1,x\n'.repeat(50)}12 est.,x\n`)
  t.strictSame(near.fields, ['n: text', 'm: text'])
  t.match(near.found.columns[0], { unfittingValues: ['12 est.'], suggestion: /most values are numbers/ })
})

t.test('what the values alone do not decide is asked for', async t => {
  const cases: readonly (readonly [content: string, field: string, question: RegExp | undefined])[] = [
    ['k;n\nA;1.234\nB;2.345\nC;5\n', 'n: double', /point was taken for a decimal sign.*format: '1\.234'/],
    ['k;n;m\nA;1.234;1.5\nB;2.345;2.5\nC;5;1\n', 'n: double', undefined],
    ['k;n\nA;0.234\nB;2.345\nC;5\n', 'n: double', undefined],
    ['k;n\nA;1.234e-01\nB;-2.345e+02\nC;NA\n', 'n: double', undefined],
    ['k;n\nA;552 100 554\nB;552 100 555\n', 'n: text', /values of 9 digits .*format: '1 234'/],
    ['k,n\nA,12e4\nB,13e5\n', 'n: text', /taken for codes.*say type: double/],
    ['k,n\nA,Si\nB,No\n', 'n: boolean Si/No', /Si and No were taken for yes and no/],
    ['k,n\nA,da\nB,ne\n', 'n: boolean da/ne', /da and ne were taken for yes and no/],
    ['k,n\nA,O\nB,N\n', 'n: boolean O/N', /O and N were taken for yes and no/],
    ['k,n\nA,S\nB,N\n', 'n: text', /S and N were taken for texts.*format: S\/N/],
    ['k,n\nA,Y\nB,N\n', 'n: boolean Y/N', undefined],
    ['k,n\nA,J\nB,N\n', 'n: boolean J/N', undefined],
    ['k,n\nA,4111111111111111\nB,\nC,N/A\n', 'n: text', /16 digits and more .*say type: int, which keeps/],
    ['k,n\nA,18446744073709551615\nB,-7\n', 'n: text', /beyond 64 bits .*say type: double, which rounds/],
    ['k,n\nA,1.5\nB,1234567890123456.5\n', 'n: text', /before the decimal sign .*say type: double, which/],
    ['k;n\nA;1,5\nB;1234567890123456,5\n', 'n: text', /before the decimal sign .*double and format: ',', /],
    ['k,n\nA,0012345678901234\nB,1234567890123456\n', 'n: text', undefined],
    ['k,n\nA,1234567890123456\nB,x\nC,y\n', 'n: text', undefined],
    ['k,ean\nA,1234567890123456\n', 'ean: text', undefined],
    ['k,n\nA,"1,234,567,890,123,456"\nB,5\n', 'n: int 1,234', undefined],
    [
      'k,d\nA,31.12.2020\nB,12/31/2020\nC,2020-12-31\n',
      'd: text',
      /most values are days, but not all in one form/,
    ],
    ['k,d\nA,2020-01-31\nB,2020-02-31\n', 'd: text', /most values are days.* of the calendar: write all/],
    ['k,d\nA,10.4.2012\nB,x\nC,y\n', 'd: text', undefined],
    ['k,d\nA,1.2.3\nB,10.4.12\nC,192.168.1.1\n', 'd: text', undefined],
    ['k,d\nA,2007/08\nB,2008/09\n', 'd: text', undefined],
    ['k,Software version\nA,1.9\nB,1.10\n', 'software_version: text', undefined],
    ['k,version\nA,1.9\nB,1.9\nC,1.8\nD,1.9\nE,2.0\nF,1.2.3\n', 'version: text', undefined],
    ['k,version\nA,1\nB,2\n', 'version: int', undefined],
    ['k,Section\nA,1.9\nB,1.10\n', 'section: text', undefined],
    ['k,section length\nA,1.9\nB,1.10\n', 'section_length: double', undefined],
    ['k,X,y\nA,2.35,48.85\nB,-3.1,47.2\n', 'x: double', /may be degrees.*from: \[y, X\]/],
    ['k,easting,northing\nA,530000,180000\nB,530001,18e4\n', 'easting: int', /metres.*reference system/],
    ['k,x,y\nA,1,2\nB,3,4\n', 'x: int', undefined],
  ]
  for (const [content, field, question] of cases) {
    const { fields, found, misfits: conversionErrors } = await understood('asked.csv', content)
    t.equal(fields[1], field, content)
    if (question === undefined) t.equal(found.columns[1]?.suggestion, undefined, content)
    else t.match(found.columns[1]?.suggestion, question, content)
    t.equal(conversionErrors, 0, `${content}: what is inferred fits`)
  }
})

t.test('an object of objects is a table of columns or of records, as its values say', async t => {
  const cases: readonly (readonly [document: object, values: readonly unknown[], described: RegExp])[] = [
    [{ n: { a: 'A', b: 'B' }, p: { a: 1, b: null } }, ['a', 'A', 1], /columns of the records/],
    [{ n: { 0: 'A', 1: 'B' }, p: { 0: 1, 1: 2 } }, ['A', 1], /columns of the records/],
    [
      { x: { '2024-01-01': 1, '2024-01-02': 2 }, y: { '2024-01-01': 3, '2024-01-02': 4 } },
      ['2024-01-01', 1, 3],
      /columns of/,
    ],
    // As pandas writes them with orient="index", and others by hand.
    [{ a: { n: 'A', p: 1 }, b: { n: 'B', p: null } }, ['a', 'A', 1], /records are the members of an object$/],
    [{ de: { n: 'D', c: 'B' }, fr: { n: 'F', c: 'P' } }, ['de', 'D', 'B'], /members of an object$/],
    [{ A: { n: 'x', p: null }, B: { n: null, p: 5 } }, ['A', 'x', null], /members of an object$/],
    [{ 2019: { m: 'n/a', w: '12,5' }, 2020: { m: 1, w: 2 } }, [2019, null, '12,5'], /members of an object$/],
    [{ a: { t: [1], n: 2 }, b: { t: ['x'], n: 'y' } }, ['a', ['1'], '2'], /members of an object$/],
    [{ p: { A: 1, B: 2 }, q: { A: 3, B: 4 } }, ['p', 1, 2], /where these are its columns.*orient='records'/],
    [{ '2024-01-01': { o: 1 }, '2024-01-02': { o: 2 } }, ['2024-01-01', 1], /where these are its columns/],
  ]
  for (const [document, first, described] of cases) {
    const { values, found, misfits } = await understood('object.json', JSON.stringify(document))
    t.strictSame([values[0], misfits], [first, 0], JSON.stringify(document))
    t.match(found.diagnostics, [described], JSON.stringify(document))
  }
})

t.test('dashes of accounting formats are 0, others are no value', async t => {
  const cases: readonly (readonly [values: readonly string[], field: string, found: readonly unknown[]])[] = [
    [[' $1,618.50 ', ' $-   ', ' $(4,533.75)'], 'v: double $1,234.5', [1618.5, 0, -4533.75]],
    [['$ 1,200.00', '$ -', '$ (300.00)'], 'v: double $1,234.5', [1200, 0, -300]],
    [['1.200,00 €', '- €', '-   €'], 'v: double 1.234,5 €', [1200, 0, 0]],
    [['$5', '-', 'n/a'], 'v: int $1234', [5, null, null]],
    [[' 1,200.00 ', ' -   ', ' (300.00)', ' 2.00 '], 'v: double 1,234.5;-', [1200, 0, -300, 2]],
    [[' 1 ', ' -   ', '', ' 30 '], 'v: int 1234;-', [1, 0, null, 30]],
    // Padded to one length, between separators with blanks, and with another dash: no value.
    [['  12.5 ', '     - ', '   2.5 '], 'v: double', [12.5, null, 2.5]],
    [[' 1.5 ', ' -   ', ' 2.5 '], 'v: double', [1.5, null, 2.5]],
    [[' 1.5 ', ' - ', ' 12.5 '], 'v: double', [1.5, null, 12.5]],
    [['1.5', '-   ', '12.5'], 'v: double', [1.5, null, 12.5]],
    [[' 1.5 ', ' -   ', '12.5'], 'v: double', [1.5, null, 12.5]],
    [['5 %', '- %', '7 %'], 'v: text', ['5 %', '- %', '7 %']],
  ]
  for (const [given, field, found] of cases) {
    const content = `n,v\n${given.map(value => `A,"${value}"\n`).join('')}`
    const { fields, values, misfits } = await understood('accounts.csv', content)
    t.strictSame([fields[1], values.map(([, value]) => value), misfits], [field, found, 0], given.join('|'))
  }
  const { found } = await understood('dash.csv', 'n,v\nA, 1 \nB, -   \nC, 30 \n')
  t.match(found.columns[1]?.suggestion, /a dash was taken for 0.*say nulls: \['-'\]/)
  const other = await understood('other.csv', 'n,v\nA,#5\nB,#6\n')
  t.equal(other.found.columns[1]?.suggestion, undefined, 'digits of no other script')
})

t.test('numbers that are not finite are null in a double, and reported', async t => {
  const rows = [0.5, Number.NaN, Number.POSITIVE_INFINITY, 1.5].map((d, at) => ({
    row: at + 1,
    line: undefined,
    data: { d },
  }))
  const source = {
    name: 'memory',
    textual: false,
    async *read() {
      yield rows
    },
  }
  const { fields } = await inferColumns(source)
  t.equal(fields[0]?.type, 'double')
  const typed = typeRecords(source, fields)
  for await (const { values } of typed.batches()) t.strictSame(values, [[0.5], [null], [null], [1.5]])
  t.match(typed.report().misfits, [
    { field: 'd', expected: 'a double', count: 2, examples: [{ found: 'NaN' }, { found: 'Infinity' }] },
  ])
  const large = await understood('large.json', '[{"d":0.12},{"d":1E400}]')
  t.strictSame([large.fields, large.values, large.misfits], [['d: double'], [[0.12], [null]], 1])
})

t.test('a file or folder without dataset.yaml is a dataset', async t => {
  const portal = temporaryFolder(t, {
    data: {
      'Arbres Paris.csv': 'nom;hauteur\nChêne;1,5\n',
      'readme.txt': 'not data',
      trees: { 'a.csv': 'n\n1\n', 'readme.md': 'x', 'LIESMICH.txt': 'x', 'lisezmoi.txt': 'x' },
      leggimi: { 'leggimi.csv': 'n\n1\n' },
      two: { 'a.csv': 'n\n1\n', 'b.csv': 'n\n1\n' },
      own: { 'dataset.yaml': 'source: { path: a.csv }\n', 'a.csv': 'n\n1\n' },
    },
  })
  const watch = new PortalWatch(portal)
  t.strictSame(definedDatasets(portal), ['arbres-paris', 'leggimi', 'own', 'trees', 'two'])
  t.match(readDefinition(portal, 'two').problems, [
    { message: /^there are 2 files of data \("a\.csv", "b\.csv"\) and no dataset\.yaml: .*path: "a\.csv"/ },
  ])
  const context = { portal, base: 'http://localhost', versions: versionsOf(portal), now: () => new Date() }
  const { type, manifest } = await publishDataset('arbres-paris', context)
  t.equal(type, 'published')
  t.strictSame(
    manifest.dataset.fields.map(field => `${field.name} ${field.type}`),
    ['nom text', 'hauteur double'],
  )
  t.equal(manifest.dataset.metas.default?.title, 'Arbres Paris')
  t.equal(readDefinition(portal, 'trees').definition?.metas.default?.title, 'Trees', 'not A, as its file')
  t.equal((await publishDataset('arbres-paris', context)).type, 'unchanged')
  writeFileSync(join(portal, 'data', 'new.json'), '[{"a":1}]')
  watch.look()
  t.strictSame(watch.look()?.definitions, ['new'], 'a server sees what is dropped')
})

t.test('an identity of fields that the file does not have is refused', async t => {
  const yaml = 'source: { path: a.csv }\nid: [id, nam]\n'
  const portal = temporaryFolder(t, { data: { trees: { 'dataset.yaml': yaml, 'a.csv': 'id,name\n1,A\n' } } })
  const versions = versionsOf(portal)
  t.match(await checkDataset(portal, 'http://localhost', 'trees'), [
    {
      severity: 'error',
      message: /dataset\.yaml:2:10: id names nam, which is no field\.\n {2}Did you mean name\?/,
    },
  ])
  const context = { portal, base: 'http://localhost', versions, now: () => new Date() }
  await t.rejects(publishDataset('trees', context), { code: 'ConfigInvalid' })
  writeFileSync(join(portal, 'data/trees/dataset.yaml'), yaml.replace('nam]', 'name]'))
  t.match(await publishDataset('trees', context), { type: 'published' })
})

t.test('what is being imported is no dataset until it is complete', async t => {
  const portal = temporaryFolder(t, {
    'cities.csv': 'city,pop\nA,1\n',
    data: {
      '.cities.importing': { 'cities.csv': 'city,p', 'dataset.yaml': 'source: { path: cities.csv }\n' },
    },
  })
  t.same(definedDatasets(portal), [], 'what a process that was killed has left')
  const copy = (from: string, to: string) => {
    copyFileSync(from, to)
    t.same(definedDatasets(portal), [], 'while the file is copied')
  }
  const folder = join(portal, 'data', 'cities')
  await importFile(join(portal, 'cities.csv'), {
    folder,
    id: 'cities',
    portal,
    base: 'http://localhost',
    options: {},
    copy,
  })
  t.same(readdirSync(join(portal, 'data')), ['cities'])
  t.same(readdirSync(folder), ['cities.csv', 'dataset.yaml'])
})

t.test('the rows at the end of an imported table are found in each file that replaces it', async t => {
  const portal = temporaryFolder(t, { 'cities.csv': 'city,pop\nA,1\nB,2\nC,3\nTotal,6\n' })
  const base = 'http://localhost'
  const context = { portal, base, versions: versionsOf(portal), now: () => new Date() }
  const folder = join(portal, 'data', 'cities')
  const target = { folder, id: 'cities', portal, base, options: {}, copy: copyFileSync }
  await importFile(join(portal, 'cities.csv'), target)
  t.notMatch(readFileSync(join(folder, 'dataset.yaml'), 'utf8'), /footer/)
  const cases: readonly (readonly [csv: string, yaml: string, records: number, told: readonly RegExp[]])[] = [
    ['A,1\nB,2\nC,3\nTotal,6\n', '', 3, [/^cities\.csv: 1 row at the end is left out.*footer: 0/]],
    ['A,1\nB,2\nC,3\nD,4\n', '', 4, []],
    ['A,1\nB,2\nC,3\n\nTotal,6\nSource: x\n', '', 3, [/^cities\.csv: 2 rows at the end are left out/]],
    ['A,1\nB,2\nC,3\nTotal,6\n', 'footer: 0', 4, []],
    ['A,1\nB,2\nC,3\nZ,9\n', 'footer: 1', 3, []],
  ]
  const plain = readFileSync(join(folder, 'dataset.yaml'), 'utf8')
  for (const [csv, option, records, told] of cases) {
    writeFileSync(join(folder, 'cities.csv'), `city,pop\n${csv}`)
    writeFileSync(join(folder, 'dataset.yaml'), plain.replace('  header: 1', `  header: 1\n  ${option}`))
    const { manifest } = await publishDataset('cities', context)
    t.equal(manifest.statistics.records, records, csv)
    t.match(
      await checkDataset(portal, base, 'cities'),
      told.map(message => ({ message })),
      csv,
    )
    t.equal((await checkDataset(portal, base, 'cities')).length, told.length, csv)
  }
})

/** Files that programs put beside data. */
const BYSTANDERS = [
  '~$Haushalt.xlsx',
  '.~lock.a.csv#',
  'a.csv~',
  '.a.csv.swp',
  '.DS_Store',
  '._a.csv',
  'Thumbs.db',
  'ehthumbs.db',
  'desktop.ini',
  'a.shp.xml',
  'a.tif.aux.xml',
]

t.test(
  'the files of a folder that was not changed for a while are known, every change of it is seen',
  async t => {
    const csv = 'n\n1\n'
    const portal = temporaryFolder(t, {
      data: {
        'A B.csv': csv,
        'a-b.tsv': csv,
        one: { 'x.csv': csv },
        'one.csv': csv,
        empty: {},
        'empty.csv': csv,
      },
    })
    const data = join(portal, 'data')
    const settle = () => utimesSync(data, new Date(), new Date(Date.now() - 60_000))
    const fileOf = (id: string) => implicitSource(portal, id)?.file
    settle()
    for (let time = 0; time < 2; time++) {
      for (const [id, source] of implicitSources(portal)) t.strictSame(implicitSource(portal, id), source, id)
      t.strictSame(['a-b', 'one', 'empty', 'A B', 'none'].map(fileOf), [
        'A B.csv',
        'x.csv',
        'empty.csv',
        undefined,
        undefined,
      ])
    }
    rmSync(join(data, 'A B.csv'))
    writeFileSync(join(data, 'none.csv'), csv)
    t.strictSame(['a-b', 'none'].map(fileOf), ['a-b.tsv', 'none.csv'], 'a file came and one went')
    settle()
    t.equal(fileOf('none'), 'none.csv')
    rmSync(join(data, 'one', 'x.csv'))
    writeFileSync(join(data, 'empty', 'y.csv'), csv)
    t.strictSame(['one', 'empty'].map(fileOf), ['one.csv', 'y.csv'], 'folders are read each time')
    rmSync(data, { recursive: true })
    t.equal(fileOf('none'), undefined)
  },
)

t.test('files that programs put beside data are no data', async t => {
  const files = Object.fromEntries(BYSTANDERS.map(name => [name, 'n\n1\n']))
  const portal = temporaryFolder(t, { data: { a: { 'a.csv': 'n\n1\n', ...files }, ...files } })
  t.strictSame(definedDatasets(portal), ['a'])
  t.match(readDefinition(portal, 'a'), { definition: { source: { path: 'a.csv' } }, problems: [] })
})

t.test('check tells what in data/ is not published', async t => {
  const csv = 'n\n1\n'
  const portal = temporaryFolder(t, {
    data: {
      '日本.csv': csv,
      'here.csv': csv,
      here: {},
      'there.csv': csv,
      there: { 'a.csv': csv },
      'two.csv': csv,
      'two.tsv': csv,
      Upper: { 'a.csv': csv },
      several: { 'a.csv': csv, 'a (copy).csv': csv },
      '.hidden': { 'a.csv': csv },
      Empty: { 'notes.pdf': 'x' },
      'fees.pdf': 'x',
      tables: { 'codes.dbf': 'x' },
      'lone.DBF': 'x',
      'trees.shp': 'x',
      'trees.dbf': 'x',
      'trees.prj': 'x',
      'README.md': 'x',
      ...Object.fromEntries(BYSTANDERS.map(name => [name, csv])),
    },
  })
  symlinkSync(join(portal, 'data/here.csv'), join(portal, 'data/link.csv'))
  symlinkSync(portal, join(portal, 'data/here/all'))
  symlinkSync('/nowhere', join(portal, 'data/README'))
  mkdirSync(join(portal, 'mappings'))
  for (const name of ['hear.yml', 'notes.txt']) writeFileSync(join(portal, 'mappings', name), '')
  const versions = versionsOf(portal)
  const findings = await checkPortal(portal, 'http://localhost', versions)
  rmSync(join(portal, 'mappings'), { recursive: true })
  const told = findings.filter(
    ({ dataset, message }) => dataset !== 'trees' && !/^there is no dataset\.yaml: /.test(message),
  )
  t.match(told, [
    { dataset: 'several', severity: 'error', message: /data\/several: there are 2 files of data/ },
    { dataset: 'Empty', severity: 'warning', message: /^data\/Empty\/notes\.pdf is ignored, .*as \.csv/ },
    { dataset: 'Upper', severity: 'warning', message: /^data\/Upper\/ .*no dataset id.*for example upper$/ },
    { dataset: 'here', severity: 'warning', message: /^data\/here\/all is ignored, .* symbolic link/ },
    { dataset: 'tables', severity: 'warning', message: /^data\/tables\/codes\.dbf is ignored, .*as \.csv/ },
    { dataset: 'link.csv', severity: 'warning', message: /^data\/link\.csv is ignored, .* symbolic link/ },
    { dataset: 'fees.pdf', severity: 'warning', message: /^data\/fees\.pdf is ignored, .*as \.csv/ },
    { dataset: 'lone.DBF', severity: 'warning', message: /^data\/lone\.DBF is ignored, .*as \.csv/ },
    { dataset: 'there', severity: 'warning', message: /^data\/there\.csv .*data\/there\/ has the same id/ },
    { dataset: 'two', severity: 'warning', message: /^data\/two\.tsv .*data\/two\.csv has the same id/ },
    { dataset: '日本.csv', severity: 'warning', message: /^data\/日本\.csv .*no dataset id/ },
    {
      dataset: 'mappings/hear.yml',
      severity: 'warning',
      message: /no dataset hear: nothing uses this mapping/,
    },
  ])
  t.equal(told.length, 12)
  await publishDataset('here', { portal, base: 'http://localhost', versions, now: () => new Date() })
  rmSync(join(portal, 'data', 'here.csv'))
  t.match((await checkPortal(portal, 'http://localhost', versions)).at(-1), {
    dataset: 'here',
    severity: 'warning',
    message: /gone: publishing without names withdraws it/,
  })
})

t.test('the data files of many datasets become known in several looks', async t => {
  const names = Array.from({ length: 120 }, (_, at) => `d${String(at).padStart(3, '0')}`)
  const folder = () => ({ 'dataset.yaml': 'source: { path: a.csv }\n', 'a.csv': 'n\n1\n' })
  const portal = temporaryFolder(t, { data: Object.fromEntries(names.map(name => [name, folder()])) })
  const watch = new PortalWatch(portal)
  for (let look = 0; look < 4; look++) t.equal(watch.look(), null, 'what becomes known is no change')
  for (const name of ['d000', 'd119']) writeFileSync(join(portal, 'data', name, 'a.csv'), 'n\n1\n2\n')
  t.equal(watch.look(), null)
  t.match(watch.look(), { definitions: ['d000', 'd119'] })

  const started = new PortalWatch(portal)
  const start = Date.now()
  while (Date.now() < start + 30) writeFileSync(join(portal, 'data/d118/a.csv'), 'n\n1\n2\n3\n')
  const changed = names.slice(0, 6).flatMap(() => started.look()?.definitions ?? [])
  t.same(changed, ['d118'], 'but one that is saved before its file is known')

  const csv = join(portal, 'data/d117/a.csv')
  const states = join(portal, 'var', 'published', 'd117')
  mkdirSync(states, { recursive: true })
  writeFileSync(join(states, 'source.json'), JSON.stringify({ files: [[csv, 4, 0, 0, 0]], digest: '' }))
  const again = new PortalWatch(portal)
  writeFileSync(csv, 'n\n1\n2\n')
  t.equal(again.look(), null)
  t.match(again.look(), { definitions: ['d117'] }, 'those of published ones are known at once')
})

t.test('a server sees every change of the data files of its datasets', async t => {
  const csv = 'n\n1\n'
  const file = (...names: string[]) => join(portal, 'data', ...names)
  const portal = temporaryFolder(t, {
    data: {
      'plain.csv': csv,
      folder: { 'a.csv': csv },
      named: { 'dataset.yaml': 'source: { path: a.csv }\n', 'a.csv': csv },
      shape: { 'dataset.yaml': 'source: { path: a.shp }\n', 'a.shp': '' },
      packed: { 'dataset.yaml': 'source: { package: p/a.csv }\n' },
    },
    node_modules: { p: { 'package.json': '{"name":"p"}', 'a.csv': csv } },
  })
  const watch = new PortalWatch(portal)
  const cases: readonly (readonly [what: string, change: () => void, changes: object])[] = [
    ['overwritten', () => writeFileSync(file('named', 'a.csv'), `${csv}2\n`), { definitions: ['named'] }],
    ['emptied', () => writeFileSync(file('named', 'a.csv'), ''), { definitions: ['named'] }],
    ['removed', () => rmSync(file('named', 'a.csv')), { definitions: ['named'] }],
    ['there again', () => writeFileSync(file('named', 'a.csv'), csv), { definitions: ['named'] }],
    [
      'another file named',
      () => {
        writeFileSync(file('named', 'b.csv'), csv)
        writeFileSync(file('named', 'dataset.yaml'), 'source: { path: b.csv } #\n')
      },
      { definitions: ['named'] },
    ],
    [
      'that one written',
      () => writeFileSync(file('named', 'b.csv'), `${csv}2\n`),
      { definitions: ['named'] },
    ],
    ['a part of it', () => writeFileSync(file('shape', 'a.dbf'), 'x'), { definitions: ['shape'] }],
    [
      'of a package',
      () => writeFileSync(join(portal, 'node_modules', 'p', 'a.csv'), `${csv}2\n`),
      { definitions: ['packed'] },
    ],
    ['a second file', () => writeFileSync(file('folder', 'b.csv'), csv), { definitions: ['folder'] }],
    ['the folder', () => rmSync(file('folder'), { recursive: true }), { gone: ['folder'], definitions: [] }],
    ['the file', () => rmSync(file('plain.csv')), { gone: ['plain'], definitions: [] }],
    ['a new one', () => mkdirSync(file('empty')), {}],
  ]
  for (const [what, change, changes] of cases) {
    change()
    t.equal(watch.look(), null, `${what}: at the second look`)
    const found = watch.look()
    t.strictSame(found ?? {}, found === null ? changes : { mappings: [], ...changes }, what)
    t.equal(watch.look(), null, `${what}: once`)
  }
})

/** An interval of Parquet. */
function interval(...parts: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(parts).buffer)
}

t.test('decimals and times of Parquet are exact', async t => {
  const { parquetWriteBuffer } = parquetLibrary()
  const decimal = { converted_type: 'DECIMAL', repetition_type: 'OPTIONAL' } as const
  const time = { repetition_type: 'OPTIONAL' } as const
  const columns = [
    {
      element: {
        name: 'cents',
        type: 'FIXED_LEN_BYTE_ARRAY',
        type_length: 16,
        scale: 2,
        precision: 22,
        ...decimal,
      },
      data: [1234567890123456789n, -35n, null],
      values: ['12345678901234567.89', '-0.35', null],
    },
    {
      element: { name: 'whole', type: 'BYTE_ARRAY', scale: 0, precision: 20, ...decimal },
      data: [12345678901234567890n, 2n, -1n],
      values: ['12345678901234567890', '2', '-1'],
    },
    {
      element: { name: 'long', type: 'INT64', scale: 0, precision: 18, ...decimal },
      data: [9007199254740993n, 1n, null],
      values: [9007199254740993n, 1, null],
    },
    {
      element: { name: 'rate', type: 'INT32', scale: 2, precision: 9, ...decimal },
      data: [35n, -110n, 500n],
      values: [0.35, -1.1, 5],
    },
    {
      element: {
        name: 'third',
        type: 'FIXED_LEN_BYTE_ARRAY',
        type_length: 16,
        scale: 18,
        precision: 38,
        ...decimal,
      },
      data: [333333333333333333n, 250000000000000000n, null],
      values: [1 / 3, 0.25, null],
    },
    {
      element: { name: 'micros', type: 'INT64', converted_type: 'TIME_MICROS', ...time },
      data: [37_800_000_000n, 86_399_500_000n, null],
      values: ['10:30:00', '23:59:59.5', null],
    },
    {
      element: {
        name: 'millis',
        type: 'INT32',
        logical_type: { type: 'TIME', isAdjustedToUTC: false, unit: 'MILLIS' },
        ...time,
      },
      data: [37_800_000, 0, null],
      values: ['10:30:00', '00:00:00', null],
    },
    {
      element: {
        name: 'span',
        type: 'FIXED_LEN_BYTE_ARRAY',
        type_length: 12,
        converted_type: 'INTERVAL',
        repetition_type: 'OPTIONAL',
      },
      data: [interval(14, 3, 5_400_500), interval(0, 0, 0), null],
      values: ['P1Y2M3DT1H30M0.5S', 'PT0S', null],
    },
    {
      element: { name: 'single', type: 'FLOAT', ...time },
      data: [0.1, 16777216, null],
      values: [0.1, 16777216, null],
    },
    {
      element: { name: 'day', type: 'INT32', converted_type: 'DATE', ...time },
      data: [19_723, 1_800_000_000, -735_000],
      values: ['2024-01-01', null, null],
    },
    {
      element: { name: 'key', type: 'FIXED_LEN_BYTE_ARRAY', type_length: 2, ...time },
      data: [Buffer.from([0xca, 0xfe]), Buffer.from('01'), null],
      values: ['cafe', '3031', null],
    },
    {
      element: { name: 'bytes', type: 'BYTE_ARRAY', ...time },
      data: [Buffer.from('\ufeffé'), Buffer.from([0x61, 0xff]), null],
      values: ['\ufeffé', 'a\ufffd', null],
    },
  ] as const
  const file = parquetWriteBuffer({
    columnData: columns.map(({ element, data }) => ({ name: element.name, data: [...data] as unknown[] })),
    schema: [{ name: 'root', num_children: columns.length }, ...columns.map(({ element }) => element)],
  })
  const { values, fields, found } = await understood('exact.parquet', Buffer.from(file))
  t.match(found.diagnostics, [
    /^days or moments before the year 1 or after 9999 .*: 2$/,
    /^texts that are not UTF-8.*: 1;/,
  ])
  t.strictSame(fields, [
    'cents: text',
    'whole: text',
    'long: int',
    'rate: double',
    'third: double',
    'micros: text',
    'millis: text',
    'span: text',
    'single: double',
    'day: date',
    'key: text',
    'bytes: text',
  ])
  for (const [at, { element, values: expected }] of columns.entries())
    t.strictSame(
      values.map(row => row[at]),
      expected,
      element.name,
    )
})

t.test('local times of Parquet are those of the zone that is declared, as in CSV', async t => {
  const element = (name: string, isAdjustedToUTC: boolean) =>
    ({
      name,
      type: 'INT64',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MILLIS' },
      repetition_type: 'OPTIONAL',
    }) as const
  const [summer, winter] = ['2024-07-01T10:30:00Z', '2024-01-01T00:00:00Z'].map(it => BigInt(Date.parse(it)))
  const schema = [element('local', false), element('utc', true), element('midnight', false)]
  const columnData = [
    { name: 'local', data: [summer, winter, null] },
    { name: 'utc', data: [summer, winter, null] },
    { name: 'midnight', data: [winter, winter, null] },
  ]
  const file = parquetLibrary().parquetWriteBuffer({
    columnData,
    schema: [{ name: 'root', num_children: 3 }, ...schema],
  })
  const { fields, values, found } = await understood('local.parquet', Buffer.from(file))
  t.strictSame(fields, ['local: datetime', 'utc: datetime', 'midnight: date'])
  t.strictSame(values[0], ['2024-07-01T10:30:00Z', '2024-07-01T10:30:00Z', '2024-01-01'])
  const zoned = found.fields.map(it => (it.type === 'date' ? it : { ...it, timezone: 'Europe/Berlin' }))
  const typed = typeRecords(openSource(found.source, folders), zoned)
  const batch = (await typed.batches()[Symbol.asyncIterator]().next()).value
  t.strictSame(batch?.values, [
    ['2024-07-01T08:30:00Z', '2024-07-01T10:30:00Z', '2024-01-01'],
    ['2023-12-31T23:00:00Z', '2024-01-01T00:00:00Z', '2024-01-01'],
    [null, null, null],
  ])
})

t.test('points without position in GeoParquet are null', async t => {
  const { parquetWriteBuffer, geojsonToWkb } = parquetLibrary()
  for (const crs of [undefined, projJsonOf(3857)]) {
    const points = [
      [0, 0],
      [Number.NaN, Number.NaN],
      [Number.NaN, Number.NaN, Number.NaN],
    ]
    const data = points.map(coordinates => geojsonToWkb({ type: 'Point', coordinates }).slice())
    const columns = { place: { encoding: 'WKB', geometry_types: [], crs } }
    const value = JSON.stringify({ version: '1.1.0', primary_column: 'place', columns })
    const file = parquetWriteBuffer({
      columnData: [{ name: 'place', data, type: 'BYTE_ARRAY' }],
      kvMetadata: [{ key: 'geo', value }],
    })
    const { fields, values } = await understood('empty.parquet', Buffer.from(file))
    t.strictSame(fields, ['place: geo_point_2d'])
    t.strictSame(values, [[{ lon: 0, lat: 0 }], [null], [null]])
  }
})

t.test('GeoParquet in native encodings has geometries', async t => {
  const { parquetWriteBuffer } = parquetLibrary()
  const coordinate = { type: 'DOUBLE', repetition_type: 'REQUIRED' } as const
  const point = (name: string) => [
    { name, repetition_type: 'OPTIONAL', num_children: 2 } as const,
    { name: 'x', ...coordinate },
    { name: 'y', ...coordinate },
  ]
  const listed = (name: string, depth: number): readonly Readonly<Record<string, unknown>>[] =>
    depth === 0
      ? point(name)
      : [
          { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' } as const,
          { name: 'list', repetition_type: 'REPEATED', num_children: 1 } as const,
          ...listed('element', depth - 1),
        ]
  const points = (value: unknown): unknown => {
    if (!Array.isArray(value)) return value
    return typeof value[0] === 'number' ? { x: value[0], y: value[1] } : value.map(points)
  }
  const line = [
    [652469.02, 6862035.26],
    [652469.02, 6862135.26],
    [652569.02, 6862135.26],
    [652469.02, 6862035.26],
  ]
  for (const [encoding, depth, type, coordinates] of [
    ['point', 0, 'Point', line[0]],
    ['linestring', 1, 'LineString', line],
    ['multipoint', 1, 'MultiPoint', line],
    ['polygon', 2, 'Polygon', [line]],
    ['multilinestring', 2, 'MultiLineString', [line]],
    ['multipolygon', 3, 'MultiPolygon', [[line]]],
  ] as const) {
    const columns = { place: { encoding, geometry_types: [], crs: projJsonOf(2154) } }
    const file = parquetWriteBuffer({
      columnData: [{ name: 'place', data: [points(coordinates), null] }],
      schema: [{ name: 'root', num_children: 1 }, ...(listed('place', depth) as { name: string }[])],
      kvMetadata: [
        { key: 'geo', value: JSON.stringify({ version: '1.1.0', primary_column: 'place', columns }) },
      ],
    })
    const { values, fields } = await understood('native.parquet', Buffer.from(file))
    t.strictSame(fields, [`place: ${encoding === 'point' ? 'geo_point_2d' : 'geo_shape'}`])
    t.equal(values[1]?.[0], null)
    const shape = values[0]?.[0] as { type?: string }
    t.equal(shape.type ?? 'Point', type)
    const [lon = 0, lat = 0] =
      JSON.stringify(shape)
        .match(/\d+\.\d+/g)
        ?.map(Number) ?? []
    t.ok(Math.hypot(lon - 2.3522, lat - 48.8566) < 1e-4, `${lon} ${lat}`)
  }
})

t.test('lists of Parquet that are null are no value', async t => {
  const list = (name: string) =>
    [
      { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', repetition_type: 'OPTIONAL', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    ] as const
  for (const [name, data] of [
    ['last.parquet', [['x'], null]],
    ['all.parquet', [null, null]],
  ] as const) {
    const file = parquetLibrary().parquetWriteBuffer({
      columnData: [
        ...(name === 'all.parquet' ? [{ name: 'n', data: [1, 2] }] : []),
        { name: 'tags', data: [...data] },
      ],
      schema: [
        { name: 'root', num_children: name === 'all.parquet' ? 2 : 1 },
        ...(name === 'all.parquet'
          ? [{ name: 'n', type: 'DOUBLE', repetition_type: 'OPTIONAL' } as const]
          : []),
        ...list('tags'),
      ],
    })
    const { values } = await understood(name, Buffer.from(file))
    t.strictSame(
      values.map(row => row.at(-1)),
      data,
      name,
    )
  }
})

t.test('structures of Parquet that are null within others are no value', async t => {
  const file = parquetLibrary().parquetWriteBuffer({
    columnData: [
      {
        name: 'outer',
        data: [
          { n: 1, inner: null },
          { n: 2, inner: null },
        ],
      },
    ],
    schema: [
      { name: 'root', num_children: 1 },
      { name: 'outer', repetition_type: 'OPTIONAL', num_children: 2 },
      { name: 'n', type: 'DOUBLE', repetition_type: 'OPTIONAL' },
      { name: 'inner', repetition_type: 'OPTIONAL', num_children: 1 },
      { name: 'x', type: 'DOUBLE', repetition_type: 'OPTIONAL' },
    ],
  })
  const { values, found } = await understood('inner.parquet', Buffer.from(file))
  t.strictSame(values, [
    [1, null],
    [2, null],
  ])
  const typed = typeRecords(openSource({ path: 'inner.parquet' }, folders), found.fields)
  for await (const _ of typed.batches());
  t.strictSame(typed.report().missing, [])
})

t.test('pages of Zstandard need not declare their size, as Spark writes them', async t => {
  const zstd = await Zstd.load()
  const streamed = (input: Uint8Array) => {
    zstd.reset()
    return Buffer.concat([zstd.compressChunk(input), zstd.compressEnd()])
  }
  const file = parquetLibrary().parquetWriteBuffer({
    columnData: [
      { name: 's', data: Array.from({ length: 40_000 }, (_, at) => `${'x'.repeat(40)}${at % 9}`) },
    ],
    codec: 'ZSTD',
    compressors: { ZSTD: streamed },
    pageSize: 2 ** 24,
  })
  const { values } = await understood('streamed.parquet', Buffer.from(file))
  t.equal(values.length, 40_000)
  t.strictSame(values[10], [`${'x'.repeat(40)}1`])
})
