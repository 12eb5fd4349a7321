// The part of the published packages' types that this package uses. Declaring them here lets this package work with
// every release of the standard's version 2, without depending on any release. test/x402 type-checks these against the
// published types.

export type Network = `${string}:${string}`;
export type Json = Record<string, unknown>;

export interface PaymentRequirements {
  scheme: string;
  network: Network;
  asset: string;
  amount: string;
  payTo: string;
  maxTimeoutSeconds: number;
  extra: Json;
}

export interface ResourceInfo {
  url: string;
}

export interface PaymentRequired {
  x402Version: number;
  error?: string;
  resource: ResourceInfo;
  accepts: PaymentRequirements[];
}

export interface PaymentPayload {
  x402Version: number;
  accepted: PaymentRequirements;
  payload: Json;
}

export interface VerifyResponse {
  isValid: boolean;
  invalidReason?: string;
  invalidMessage?: string;
  payer?: string;
}

export interface SettleResponse {
  success: boolean;
  errorReason?: string;
  errorMessage?: string;
  payer?: string;
  transaction: string;
  network: Network;
  extra?: Json;
}

export interface SupportedKind {
  x402Version: number;
  scheme: string;
  network: Network;
  extra?: Json;
}

export type Price = string | number | { asset: string; amount: string; extra?: Json };

/** Deeply readonly. */
export type Frozen<T> = T extends (infer U)[]
  ? readonly Frozen<U>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;
