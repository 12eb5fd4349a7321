export { newKey } from "./config/parse.ts";
export { type PhoneConfig, type PhoneDeployment, phoneConfig, phoneProblems } from "./config/phone-config.ts";
export { type RegistryConfig, readRegistryConfig } from "./config/registry-config.ts";
export { PHONE_SETTINGS, type PhoneSettings, REGISTRY_SETTINGS } from "./config/settings.ts";
export type { RegistryKey, RegistryKeys } from "./crypto/keys.ts";
export { PHONE_ERRORS, PHONE_ROUTE_ERRORS, REGISTRY_ERRORS } from "./error-definitions.ts";
export { PhoneError, type PhoneErrorCode, RegistryError, type RegistryErrorCode } from "./errors.ts";
export { phoneExtension, withPhoneDefaults } from "./extension.ts";
export { type CountryCode, type PhoneNumber, parseNumber } from "./http/numbers.ts";
export { PHONE_TAG } from "./http/openapi.ts";
export { openPhone, type Phone, type PhoneOptions } from "./plugin.ts";
export type { Rate } from "./quotas/rate.ts";
export { DEFAULT_LIMITS } from "./registry/limits.ts";
export { openRegistry } from "./registry/open.ts";
export type {
  CodeMessage,
  CodeSender,
  LiveLimits,
  RegistryLimits,
  RegistryLog,
  RegistryMetrics,
  RegistryOperation,
  RegistryOptions,
  SignatureChecks,
} from "./registry/options.ts";
export type {
  CheckOptions,
  CheckResult,
  PhoneRegistry,
  RotateOptions,
  RotationState,
} from "./registry/phone-registry.ts";
export type {
  ClientId,
  E164,
  Erased,
  EraseRequest,
  LinkRequest,
  LinkResult,
  Mapping,
  MappingChange,
  NonceUse,
  RemainingStep,
  ResolveRequest,
  SignedFields,
  UnlinkRequest,
  VerifyRequest,
  VerifyResult,
} from "./registry/types.ts";
export { FileSender, LogSender } from "./senders/development.ts";
export { signWebhook, WebhookSender } from "./senders/webhook.ts";
export { type RegistryParts, type RunningRegistry, startRegistry } from "./service.ts";
export { chainCall, openSignatureChain } from "./signatures/chain.ts";
export { type ContractCheckOptions, ContractChecks } from "./signatures/contract-checks.ts";
export { LOOKUP_HEADERS } from "./signatures/lookups.ts";
