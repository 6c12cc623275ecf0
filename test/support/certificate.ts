import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'

/** DER (X.690) as far as a certificate needs it. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  const length =
    body.length < 128 ? Buffer.of(body.length) : Buffer.of(0x82, body.length >> 8, body.length & 255)
  return Buffer.concat([Buffer.of(tag), length, body])
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts)
const SHA256_WITH_RSA = Buffer.from('300d06092a864886f70d01010b0500', 'hex')
const COMMON_NAME = Buffer.from('0603550403', 'hex')

/** A key of RSA with a certificate that it signed itself (RFC 5280, section 4.1), in PEM. */
export function selfSigned(
  name: string,
  modulusLength = 2048,
): { readonly privateKey: string; readonly certificate: string } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength })
  const named = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name)))))
  const dates = sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    SHA256_WITH_RSA,
    named,
    dates,
    named,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = createSign('sha256').update(body).sign(privateKey)
  const whole = sequence(body, SHA256_WITH_RSA, der(0x03, Buffer.of(0), signature))
  return { privateKey: pem(privateKey), certificate: certificatePem(whole) }
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function certificatePem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
