import { ACCOUNT_INVALID, ACCOUNT_UNKNOWN, ACCOUNTS_UNAVAILABLE } from '../../accounts/faults.ts'
import { CATALOG_INCOMPLETE, DATASET_DAMAGED, NOT_PUBLISHED_YET } from '../../catalog/faults.ts'
import {
  BAD_GATEWAY,
  BAD_REQUEST,
  type DeclaredFault,
  FORBIDDEN_ACCESS,
  INTERNAL_ERROR,
  NOT_FOUND_RESOURCE,
  UNAUTHORISED,
  VERSION_UNKNOWN,
} from '../../errors/errors.ts'
import { CREDENTIAL_INVALID } from '../../http/authenticate.ts'
import { TOO_MANY_OPEN_FILES } from '../../http/faults.ts'
import { INVALID_REST_PARAMETER_ERROR } from '../../http/parameters.ts'
import { ODATA_ERROR, ODATA_SEGMENT } from '../../language/odata/faults.ts'
import { ODSQL_ERROR } from '../../language/odsql/faults.ts'
import { SHAPES_INVALID } from '../../publishing/shapes/validate.ts'
import { INCOMPATIBLE_TYPES_IN_COMPARISON_FILTER, ODSQL_SYNTAX_ERROR } from '../../query/faults.ts'
import { STORE_BUSY } from '../../runtime/fair-queue.ts'
import { CROSS_SITE_REQUEST } from '../../site/signed-in.ts'
import { DEADLINE_EXCEEDED, STORE_UNAVAILABLE } from '../../store/faults.ts'

/** The faults whose codes the description of the API lists, in the order of each status. */
export const REPORTED_FAULTS: readonly DeclaredFault[] = [
  ODSQL_ERROR,
  ODSQL_SYNTAX_ERROR,
  INCOMPATIBLE_TYPES_IN_COMPARISON_FILTER,
  INVALID_REST_PARAMETER_ERROR,
  BAD_REQUEST,
  ODATA_ERROR,
  ACCOUNT_INVALID,
  UNAUTHORISED,
  CREDENTIAL_INVALID,
  FORBIDDEN_ACCESS,
  CROSS_SITE_REQUEST,
  ODATA_SEGMENT,
  NOT_FOUND_RESOURCE,
  VERSION_UNKNOWN,
  ACCOUNT_UNKNOWN,
  INTERNAL_ERROR,
  SHAPES_INVALID,
  BAD_GATEWAY,
  DEADLINE_EXCEEDED,
  STORE_BUSY,
  TOO_MANY_OPEN_FILES,
  STORE_UNAVAILABLE,
  NOT_PUBLISHED_YET,
  DATASET_DAMAGED,
  CATALOG_INCOMPLETE,
  ACCOUNTS_UNAVAILABLE,
]
