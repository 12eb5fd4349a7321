// `@sotto/mpp/server`: MPP as a payment method of a paywall of @sotto/resource-server, and its checks for other servers.
export { type ChargeReceipt, type Charges, type ChargesOptions, openCharges, type Verified } from "./server/charges.ts";
export { mpp } from "./server/method.ts";
export type { MppOptions } from "./server/options.ts";
