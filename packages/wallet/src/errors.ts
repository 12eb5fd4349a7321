import { createErrorClass } from "@sotto/protocol";
import type { WALLET_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link WalletError}. */
export type WalletErrorCode = keyof typeof WALLET_ERRORS;

/** An error of the wallet. */
export const WalletError = /* @__PURE__ */ createErrorClass<typeof WALLET_ERRORS>("WalletError");
export type WalletError = InstanceType<typeof WalletError>;
