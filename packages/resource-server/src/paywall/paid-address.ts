import type { ScheduleReference, ShieldedAddressBinding } from "@sotto/protocol";

/** An address at which a paywall is paid. */
export interface PaidAddress {
  /** What the wallet signed: the address with its chain and pool. */
  readonly binding: ShieldedAddressBinding;
  /** The wallet's signature of the binding, hex with 0x. */
  readonly signature: string;
  /** The schedule that lists the address; undefined if it is lasting. */
  readonly schedule: ScheduleReference | undefined;
}
