import type { PaidProof, PaywallOptions } from "@sotto/resource-server";

/** A shop that is open. */
export interface OpenShop {
  close(): Promise<void>;
}

/** What each shop of the story is to the process they run in. */
export interface ShopKind {
  readonly name: string;
  /** What it is built on, and its line that charges. */
  readonly framework: string;
  readonly line: string;
  /** In whole tokens, for every request. */
  readonly price: string;
  open(options: PaywallOptions, port: number): Promise<OpenShop>;
}

export const HOST = "127.0.0.1";

/** What a shop says for a payment: the goods, and what it was paid, which its viewing key shows. */
export interface Sale {
  readonly goods: string;
  /** Base units. */
  readonly paid: string;
}

export const sell = (goods: string, payment: PaidProof | undefined): Sale => ({ goods, paid: String(payment?.amount) });
