import { lookup } from '../model/lookup.ts'

/**
 * Components of common passwords: the most frequent words of lists of leaked passwords, in the languages of the interface, and
 * sequences of keys and letters. A list of whole passwords would be thousands of combinations of these.
 */
const WORDS: readonly string[] = `
  password passwort passwd motdepasse contrasena contraseña contrasenya senha wachtwoord losenord lösenord pasahitza parola
  parol pass letmein welcome willkommen bienvenue bienvenido bienvenida benvenuto welkom valkommen login access default
  changeme changeit guest admin administrator administrador root superuser master user system server temp temporary secret
  whatever nothing forever iloveyou iloveu loveyou teamo tequiero jetaime ichliebedich lovely lover love sweetheart darling
  princess princesa prinzessin princesse sunshine moonlight starlight rainbow summer winter spring autumn sommer verano ete
  monday friday january february september october november december football futbol fussball soccer baseball basketball
  volleyball hockey tennis golf skateboard snowboard liverpool arsenal chelsea barcelona realmadrid juventus manchester
  bayern benfica galatasaray yankees lakers cowboys steelers eagles dragon dragonball monkey tiger lion falcon mustang horse
  dolphin elephant butterfly spider spiderman superman batman ironman starwars startrek pokemon pikachu naruto minecraft
  fortnite playstation nintendo xbox gamer harrypotter hogwarts gandalf frodo matrix terminator skywalker darthvader
  mickeymouse hellokitty snoopy garfield tinkerbell cinderella michael jennifer jessica ashley daniel charlie thomas robert
  jordan andrew matthew anthony joshua nicole samantha michelle alexander alexandra christopher christian sebastian
  maximilian stephanie elizabeth victoria benjamin jonathan william patrick george harley ferrari porsche mercedes
  lamborghini mitsubishi volkswagen corvette yamaha suzuki google facebook linkedin microsoft windows apple samsung android
  internet computer keyboard hello hallo bonjour hola ciao salut coffee chocolate cookie cheese banana orange strawberry
  watermelon pepper ginger cherry flower flowers blume music guitar metallica nirvana eminem justinbieber jesus jesuschrist
  heaven angel angels blessed faith freedom liberty justice peace victory hunter killer shadow ghost phantom thunder
  lightning diamond silver golden goldfish phoenix ninja samurai pirate warrior soldier sniper ranger trustno trustnoone
  nopassword mypassword opensesame abracadabra abrakadabra blink london paris berlin madrid lisboa amsterdam stockholm
  newyork losangeles california florida texas washington america canada australia deutschland espana france italia portugal
  nederland sverige family familia familie friend friends bestfriend girlfriend boyfriend mother father brother sister mama
  papa baby babygirl buster maggie bailey bella lucky happy money dollar business company office school student teacher
  university college enterprise lodestone opendata fuckyou sexy jasmine hannah olivia oliver arthur alex max sarah laura
  nuttertools translator undertaker motherlode syncmaster aleksandra salamander ghostrider microphone anastasiya alessandro
  konstantin underground tokiohotel highlander evangelion sonyericsson roadrunner ironmaiden mississippi revolution absolutely
  friendster madagaskar ronaldinho information supersonic experience experienced greedisgood blackberry mastermind
  websolutions finalfantasy christophe unbelievable gfhjkm ghbdtn fktrcfylhf rjycnfynby yjdsqgfhjkm`
  .split(/\s+/)
  .filter(word => word !== '')

/** Sequences of keys and letters; each is also typed backwards. */
const ORDERS: readonly string[] = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  '!@#$%^&*()_+',
  '!"§$%&/()=',
  'qwertyuiop[]',
  'qwertzuiopü',
  'azertyuiop',
  'asdfghjkl;',
  'asdfghjklöä',
  'qsdfghjklm',
  'zxcvbnm,./',
  'yxcvbnm,.-',
  'wxcvbn',
  'qazwsxedcrfvtgbyhnujmikolp',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik',
  '1qay2wsx3edc4rfv5tgb6zhn7ujm8ik',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  '1a2b3c4d5e6f7g8h9i0j',
  'a1b2c3d4e5f6g7h8i9j0',
  '1a2s3d4f5g6h7j8k9l',
  'a1s2d3f4g5h6j7k8l9',
  '1z2x3c4v5b6n7m',
  'z1x2c3v4b5n6m7',
  '1357924680',
  '1029384756',
  '0192837465',
  '4815162342',
  'q1q2q3q4q5',
  '2468013579',
  '7894561230',
  '1472583690',
  '0102030405060708091011',
  '1020304050607080901',
  '1122334455667788990',
].flatMap(order => [order, [...order].reverse().join('')])

/** Characters that substitute letters. */
const STAND_INS: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'il',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  8: 'b',
  '@': 'a',
  $: 's',
  '!': 'i',
}

/** Maximum weight of unexplained characters of a common password: two letters, or four digits and signs. */
const UNEXPLAINED = 4
const LETTER = 2
const OTHER = 1

/** Longer passwords are never common. */
const MAX_LENGTH = 40

/** Minimum length of a run in a sequence that is no coincidence. */
const SHORTEST_RUN = 3

/**
 * True for a password that is among the first to be guessed: one well-known word, also with substituted letters, with years, runs
 * of keys and repeated characters around it, or only these, or a few characters repeated.
 */
export function isCommonPassword(password: string): boolean {
  const text = password.normalize('NFKC').toLowerCase()
  if ([...text].length > MAX_LENGTH) return false
  if (/^(.{1,4})\1+.{0,3}$/su.test(text)) return true
  const [, once = text] = /^(.{5,})\1+$/su.exec(text) ?? []
  return unexplained([...once]) <= UNEXPLAINED
}

/** The minimum weight of characters outside of runs, years, repetitions and one word. */
function unexplained(characters: readonly string[]): number {
  const text = characters.join('')
  const offsets: number[] = [0]
  for (const character of characters) offsets.push((offsets.at(-1) ?? 0) + character.length)
  // The minimum up to each character, without a word and with one.
  const [plain, worded] = [[0], [0]]
  for (let at = 0; at <= characters.length; at++) {
    const [without = Infinity, within = Infinity] = [plain[at], worded[at]]
    const reach = (end: number, [first, second]: readonly [number, number]) => {
      plain[end] = Math.min(plain[end] ?? Infinity, first)
      worded[end] = Math.min(worded[end] ?? Infinity, second)
    }
    if (at === characters.length) return Math.min(without, within)
    const weight = /\p{L}/u.test(characters[at] ?? '') ? LETTER : OTHER
    reach(at + 1, [without + weight, within + weight])
    for (const length of runsAt(text.slice(offsets[at]))) reach(at + length, [without, within])
    for (const word of WORDS) if (isWordAt(characters, at, word)) reach(at + word.length, [Infinity, without])
  }
  return characters.length
}

/** Lengths of the prefixes of a text that are a run in a sequence, a repetition, or a year. */
function runsAt(text: string): readonly number[] {
  const lengths: number[] = []
  const repeated = /^(.)\1{2,}/su.exec(text)?.[0]
  if (repeated !== undefined) lengths.push([...repeated].length)
  if (/^(?:19|20)\d\d/.test(text)) lengths.push(4)
  for (const order of ORDERS) {
    let length = 0
    while (length < text.length && order.includes(text.slice(0, length + 1))) length++
    for (let run = SHORTEST_RUN; run <= length; run++) lengths.push(run)
  }
  return lengths
}

function isWordAt(characters: readonly string[], at: number, word: string): boolean {
  if (at + word.length > characters.length) return false
  for (let index = 0; index < word.length; index++) {
    const found = characters[at + index] ?? ''
    const letter = word[index] ?? ''
    if (found !== letter && lookup(STAND_INS, found)?.includes(letter) !== true) return false
  }
  return true
}
