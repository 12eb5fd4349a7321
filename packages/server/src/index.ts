export { CHAIN_SETTINGS } from "./config/chain-settings.ts";
export { LOCAL_DEPLOYMENT, readDeployment, withDeployment } from "./config/deployment.ts";
export { type LogLevel, type LogLevels, logLevelProblems } from "./config/log-levels.ts";
export type { Parse } from "./config/parse.ts";
/** Parsers of settings. */
export * as parse from "./config/parse.ts";
export {
  assertNoProblems,
  type Environment,
  isWrong,
  type ReadSettings,
  readSettings,
  reportMissing,
  settingsTable,
} from "./config/read.ts";
export { SERVER_SETTINGS, type ServerSettings } from "./config/server-settings.ts";
export { live, type Setting, type SettingTable, type SettingValues, setting } from "./config/setting.ts";
export { withSettingsFile } from "./config/settings-file.ts";
export { SERVER_ERRORS } from "./error-definitions.ts";
export { codeOf, ServerError, type ServerErrorCode } from "./errors.ts";
export type {
  AdmittedPayment,
  ExtensionTables,
  OpenExtension,
  ReloadedSettings,
  ServiceCore,
  ServiceExtension,
  ServicePlace,
  VerifyField,
} from "./extension/extension.ts";
export type { Exceeded, Quota, ServiceQuotas } from "./extension/quotas.ts";
export {
  NO_STEP,
  NO_TRACING,
  parseTraceparent,
  type TraceAttributes,
  type TraceStart,
  type TraceStep,
  type Tracing,
  traced,
} from "./extension/tracing.ts";
export { type AppConfig, type AppOptions, createApp } from "./http/app.ts";
export {
  BODY_CODES,
  type ErrorHandlerOptions,
  type ErrorResponse,
  errorHandler,
  errorResponses,
  ROUTE_CODES,
  statusOf,
} from "./http/error-responses.ts";
export {
  type Check,
  CheckResult,
  createReadiness,
  type HealthOptions,
  healthRoutes,
  type Need,
  operationRoutes,
  type Readiness,
  type ReadinessOptions,
} from "./http/health.ts";
export { parseStrictJson } from "./http/json.ts";
export { addressOf, freePort, listen } from "./http/listen.ts";
export {
  type HttpMetrics,
  httpMetrics,
  type MetricsServer,
  metricsRoute,
  serveMetrics,
  UNLIMITED,
} from "./http/metrics.ts";
export { MAX_SHARED, type SharedCounts } from "./http/network-counts.ts";
export { createRegistry, readinessMetrics } from "./http/program-metrics.ts";
export type { App } from "./http/types.ts";
export { clientIds, NETWORK_GROWTH, networkHashes, networkLimits } from "./ops/client-id.ts";
export { Closing } from "./ops/closing.ts";
export { createLog, type LogSink, type ServiceLog } from "./ops/log.ts";
export { endWith, type Program, type ProgramCommand, runProgram, runProgramCommand } from "./ops/program.ts";
export { describeError, redact } from "./ops/redact.ts";
export {
  liveValues,
  type PreparedReload,
  Reloads,
  type SettingChanges,
  settingChanges,
} from "./ops/reload.ts";
export { Sampled, type SampledOptions } from "./ops/sampled.ts";
