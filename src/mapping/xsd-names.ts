/** Datatypes that are suggested for an unknown name. */
export const XSD_NAMES: readonly string[] = [
  ...['string', 'integer', 'decimal', 'double', 'float', 'boolean', 'date', 'dateTime', 'time', 'duration'],
  ...['gYear', 'gYearMonth', 'gMonth', 'gDay', 'gMonthDay', 'anyURI', 'int', 'long', 'short', 'byte'],
  ...['nonNegativeInteger', 'positiveInteger', 'dateTimeStamp', 'dayTimeDuration', 'yearMonthDuration'],
  ...['hexBinary', 'base64Binary', 'token', 'language', 'normalizedString'],
]
