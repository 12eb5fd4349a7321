export type { ServiceExtension } from "@sotto/server";
export { createLog, type LogSink, type ServiceLog } from "@sotto/server";
export { type Config, type ConfiguredExtension, type Environment, readConfig } from "./config/config.ts";
export { deploymentSettings } from "./config/deployment.ts";
export { withDevelopmentDefaults } from "./config/development.ts";
export { routeErrors } from "./config/extensions.ts";
export { SETTINGS, settingsTable } from "./config/settings.ts";
export { createVerifyEngine, type VerifyEngine, type VerifyEngineOptions } from "./engine/index.ts";
export { ENGINE_ERRORS, RELAYER_ERRORS, SERVICE_ERRORS, SIGNER_ERRORS, STORE_ERRORS } from "./error-definitions.ts";
export { ServiceError, type ServiceErrorCode } from "./errors.ts";
export { type ServedExtensions, serveExtensions } from "./extensions/serve.ts";
export { openApiDocument } from "./http/openapi-document.ts";
export { REASONS, type Reason } from "./payments/checks.ts";
export {
  type AccountState,
  createRelayer,
  LOCAL_RELAYER_CONFIG,
  MAX_ACCOUNTS,
  type Relayer,
  type RelayerAccount,
  type RelayerOptions,
  type RelayerProver,
} from "./relayer/index.ts";
export { type RunningService, type ServiceParts, startService } from "./service.ts";
export {
  RemoteSigner,
  SignerClient,
  type SignerEndpoint,
  type SignerErrorCode,
  type TransactionSigner,
  type UnsignedTransaction,
} from "./signer/index.ts";
export { openStore, type Store } from "./store/index.ts";
export { addKey } from "./token/add-key.ts";
