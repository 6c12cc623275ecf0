/** Namespaces of XML that OData writes (Atom Format 4.0, section 2; CSDL 4.0, section 3). */
export const ATOM = 'http://www.w3.org/2005/Atom'
export const APP = 'http://www.w3.org/2007/app'
export const EDMX = 'http://docs.oasis-open.org/odata/ns/edmx'
export const EDM = 'http://docs.oasis-open.org/odata/ns/edm'
export const META = 'http://docs.oasis-open.org/odata/ns/metadata'
export const DATA = 'http://docs.oasis-open.org/odata/ns/data'
export const SCHEME = 'http://docs.oasis-open.org/odata/ns/scheme'

/** Those of 3.0 and 2.0, which have CSDL of their own. */
export const OLD_EDMX = 'http://schemas.microsoft.com/ado/2007/06/edmx'
export const OLD_EDM = {
  '3.0': 'http://schemas.microsoft.com/ado/2009/11/edm',
  '2.0': 'http://schemas.microsoft.com/ado/2008/09/edm',
} as const
export const DATA_SERVICES = {
  data: 'http://schemas.microsoft.com/ado/2007/08/dataservices',
  meta: 'http://schemas.microsoft.com/ado/2007/08/dataservices/metadata',
  scheme: 'http://schemas.microsoft.com/ado/2007/08/dataservices/scheme',
} as const
