// `@sotto/mpp/server`: MPP as a payment method of a paywall of @sotto/resource-server.
export { mpp } from "./server/method.ts";
export type { MppOptions } from "./server/options.ts";
