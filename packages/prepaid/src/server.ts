// `@sotto/prepaid/server`: prepaid tokens as a payment method of a paywall of @sotto/resource-server.
export { PREPAID_SERVER_ERRORS } from "./server/error-definitions.ts";
export { PrepaidServerError, type PrepaidServerErrorCode } from "./server/errors.ts";
export type { MeteredTotals } from "./server/metered/audit.ts";
export type { MeteredOptions } from "./server/metered/config.ts";
export { type MeteredMethod, meteredCredit, type PaidMetered } from "./server/metered/method.ts";
export { type MeteredPrice, metered, meteredBy, type UnitPrice } from "./server/metered/price.ts";
export { type PaidToken, type PrepaidMethod, prepaid } from "./server/method.ts";
export { meterOpenAiStream, type OpenAiStreamOptions } from "./server/openai-stream.ts";
export type { PrepaidOptions } from "./server/options.ts";
export type { PrepaidTotals } from "./server/prepaid.ts";
