/**
 * Forms with a passkey (Web Authentication): before one is sent, the browser creates a credential or signs with one, and its
 * response becomes a field of the form. Forms that only sign in remain hidden if the browser does not support passkeys.
 */
for (const form of document.querySelectorAll<HTMLFormElement>('form[data-passkey]')) {
  if (window.PublicKeyCredential === undefined) continue
  form.hidden = false
  let isSending = false
  form.addEventListener('submit', async event => {
    event.preventDefault()
    if (isSending) return
    isSending = true
    isSending = await send(form)
  })
  // A browser may show the page again as it was left.
  addEventListener('pagehide', () => {
    isSending = false
  })
}

type Json = Readonly<Record<string, unknown>>
type Descriptor = {
  readonly id: string
  readonly type: 'public-key'
  readonly transports: AuthenticatorTransport[]
}

/** Sends a form with its credential; false if there is none. */
async function send(form: HTMLFormElement): Promise<boolean> {
  const problem = form.querySelector<HTMLElement>('[data-problem]')
  if (problem !== null) problem.hidden = true
  try {
    const field = form.querySelector<HTMLInputElement>('[name=credential]')
    const options = JSON.parse(form.dataset.options ?? '{}') as Json
    const isNew = form.dataset.passkey === 'create'
    if (field !== null) field.value = JSON.stringify(await (isNew ? create(options) : get(options)))
    // `submit` fires no event, which this handler would intercept again.
    form.submit()
    return true
  } catch {
    // A cancelled dialog gives no reason, by design (section 14.5).
    if (problem !== null) problem.hidden = false
    return false
  }
}

async function create(options: Json): Promise<Json> {
  const user = options.user as PublicKeyCredentialUserEntity & { readonly id: unknown }
  const publicKey = {
    ...options,
    challenge: bytes(String(options.challenge)),
    user: { ...user, id: bytes(String(user.id)) },
    excludeCredentials: descriptors(options.excludeCredentials),
  } as unknown as PublicKeyCredentialCreationOptions
  const credential = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential
  const response = credential.response as AuthenticatorAttestationResponse
  return {
    ...common(credential),
    response: {
      clientDataJSON: text(response.clientDataJSON),
      attestationObject: text(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  }
}

async function get(options: Json): Promise<Json> {
  const publicKey = {
    ...options,
    challenge: bytes(String(options.challenge)),
    allowCredentials: descriptors(options.allowCredentials),
  } as unknown as PublicKeyCredentialRequestOptions
  const found = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential
  const response = found.response as AuthenticatorAssertionResponse
  return {
    ...common(found),
    response: {
      clientDataJSON: text(response.clientDataJSON),
      authenticatorData: text(response.authenticatorData),
      signature: text(response.signature),
      ...(response.userHandle === null ? {} : { userHandle: text(response.userHandle) }),
    },
  }
}

function common({ id, rawId, type }: PublicKeyCredential): Json {
  return { id, rawId: text(rawId), type, clientExtensionResults: {} }
}

function descriptors(given: unknown) {
  return (given as readonly Descriptor[]).map(each => ({ ...each, id: bytes(each.id) }))
}

function bytes(base64url: string): Uint8Array {
  const binary = atob(base64url.replace(/-/g, '+').replace(/_/g, '/'))
  return Uint8Array.from(binary, character => character.charCodeAt(0))
}

function text(buffer: ArrayBuffer): string {
  const binary = String.fromCharCode(...new Uint8Array(buffer))
  return btoa(binary).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
}

export {}
