import { ACCOUNTS_UNAVAILABLE } from '../../accounts/faults.ts'
import { CATALOG_INCOMPLETE, DATASET_DAMAGED, NOT_PUBLISHED_YET } from '../../catalog/faults.ts'
import {
  BAD_GATEWAY,
  BAD_REQUEST,
  type DeclaredFault,
  FORBIDDEN_ACCESS,
  GONE,
  INTERNAL_ERROR,
  NOT_FOUND_RESOURCE,
  UNAUTHORISED,
  UNPROCESSABLE_ENTITY,
  VERSION_UNKNOWN,
} from '../../errors/errors.ts'
import { CREDENTIAL_INVALID } from '../../http/authenticate.ts'
import { STORAGE_UNAVAILABLE, TOO_MANY_OPEN_FILES } from '../../http/faults.ts'
import { INVALID_REST_PARAMETER_ERROR } from '../../http/parameters.ts'
import { TOO_MANY_ANSWERS, TOO_MUCH_WORK } from '../../http/rate-limit.ts'
import { ODSQL_ERROR } from '../../language/odsql/faults.ts'
import { INCOMPATIBLE_TYPES_IN_COMPARISON_FILTER, ODSQL_SYNTAX_ERROR } from '../../query/faults.ts'
import { STORE_BUSY } from '../../runtime/fair-queue.ts'
import { DEADLINE_EXCEEDED, STORE_UNAVAILABLE } from '../../store/faults.ts'

/** The faults whose codes the description of the API lists, in the order of each status; 429 has those of quotas beside. */
export const REPORTED_FAULTS: readonly DeclaredFault[] = [
  ODSQL_ERROR,
  ODSQL_SYNTAX_ERROR,
  INCOMPATIBLE_TYPES_IN_COMPARISON_FILTER,
  INVALID_REST_PARAMETER_ERROR,
  BAD_REQUEST,
  UNAUTHORISED,
  CREDENTIAL_INVALID,
  FORBIDDEN_ACCESS,
  NOT_FOUND_RESOURCE,
  VERSION_UNKNOWN,
  GONE,
  UNPROCESSABLE_ENTITY,
  TOO_MUCH_WORK,
  TOO_MANY_ANSWERS,
  INTERNAL_ERROR,
  BAD_GATEWAY,
  DEADLINE_EXCEEDED,
  STORE_BUSY,
  TOO_MANY_OPEN_FILES,
  STORAGE_UNAVAILABLE,
  STORE_UNAVAILABLE,
  NOT_PUBLISHED_YET,
  DATASET_DAMAGED,
  CATALOG_INCOMPLETE,
  ACCOUNTS_UNAVAILABLE,
]
