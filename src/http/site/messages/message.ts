/** A text of the interface in another language; one that depends on a number has a form for each category of plurals. */
export type Message = string | Partial<Record<Intl.LDMLPluralRule, string>>

/** The texts of a language by the English ones; those that are missing are shown in English. */
export type MessageTable = Readonly<Record<string, Message>>
