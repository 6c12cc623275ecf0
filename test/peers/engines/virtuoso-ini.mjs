/**
 * The configuration of a Virtuoso of its own in a folder, with paths relative to it. `buffers` are pages of 8 KiB in
 * memory: 170,000 suit a machine of 2 GiB, 10,000 are enough for tests.
 */
export function virtuosoIni({ port, sqlPort, buffers }) {
  return `[Database]
DatabaseFile = virtuoso.db
ErrorLogFile = virtuoso.log
LockFile = virtuoso.lck
TransactionFile = virtuoso.trx
xa_persistent_file = virtuoso.pxa
ErrorLogLevel = 7
FileExtend = 200
MaxCheckpointRemap = ${Math.round(buffers / 4)}
Striping = 0
TempStorage = TempDatabase

[TempDatabase]
DatabaseFile = virtuoso-temp.db
TransactionFile = virtuoso-temp.trx
MaxCheckpointRemap = 2000
Striping = 0

[Parameters]
ServerPort = 127.0.0.1:${sqlPort}
LiteMode = 0
DisableUnixSocket = 1
DisableTcpSocket = 0
ServerThreads = 40
AsyncQueueMaxThreads = 4
ThreadsPerQuery = 2
CheckpointInterval = 10
CheckpointAuditTrail = 0
O_DIRECT = 0
CaseMode = 2
NumberOfBuffers = ${buffers}
MaxDirtyBuffers = ${Math.round(buffers * 0.75)}
MaxQueryMem = 1G
VectorSize = 1000
MaxVectorSize = 1000000
AdjustVectorSize = 0
DirsAllowed = ., /
DefaultHost = 127.0.0.1:${port}

[HTTPServer]
ServerPort = 127.0.0.1:${port}
ServerRoot = .
MaxClientConnections = 30
ServerThreads = 30
HTTPThreadSize = 280000
KeepAliveTimeout = 60
MaxKeepAlives = 30
Charset = UTF-8
DavRoot = DAV
EnabledDavVSP = 0
MaintenancePage =
HTTPProxyEnabled = 0
TempASPXDir = .

[AutoRepair]
BadParentLinks = 0

[Client]
SQL_PREFETCH_ROWS = 100
SQL_PREFETCH_BYTES = 16000
SQL_QUERY_TIMEOUT = 0
SQL_TXN_TIMEOUT = 0

[SPARQL]
ResultSetMaxRows = 1000000
DeferInferenceRulesInit = 1
LabelInferenceName =
ShortenLongURIs = 0

[Plugins]
`
}
