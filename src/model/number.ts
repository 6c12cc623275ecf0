/**
 * A finite number in plain decimal notation, shortest digits, never with an exponent: `1000000000000000000000`,
 * `0.0000001`, `48.8566`. It is the form in which the store keeps an xsd:double, so a number written this way comes
 * back as it went in.
 */
export function numberText(value: number): string {
  const text = String(value)
  return text.includes('e') ? expand(text) : text
}

function expand(text: string): string {
  const [mantissa = '', exponent = '0'] = text.split('e')
  const sign = mantissa.startsWith('-') ? '-' : ''
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.')
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  if (point >= digits.length) return sign + digits.padEnd(point, '0')
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}
