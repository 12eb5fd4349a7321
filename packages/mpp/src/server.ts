// `@sotto/mpp/server`: MPP as a payment method of a paywall of @sotto/resource-server, and its checks for other servers.

export type { ChallengeProblem, Challenges, Charging, Wanted } from "./server/challenges.ts";
export { type ChargeReceipt, type Charges, type ChargesOptions, openCharges, type Verified } from "./server/charges.ts";
export { createChallenges, mpp } from "./server/method.ts";
export type { MppOptions } from "./server/options.ts";
