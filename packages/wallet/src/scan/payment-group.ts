import type { SettledEvent } from "@sotto/chain";
import type { Month, Note, ReceivedNote, Viewer } from "@sotto/protocol";
import type { KeyOf } from "./scan-keys.ts";

/** A payment's note, and the month of the address that it was paid to. */
export interface OwnNote extends Note {
  /** Undefined for the lasting address. */
  readonly month: Month | undefined;
}

/** Payments, and the keys with which all of them are tried. */
export interface PaymentGroup {
  readonly viewer: Viewer;
  readonly payments: readonly SettledEvent[];
  /** The wallet's notes among those that the viewer read. */
  own(read: readonly (ReceivedNote | null)[]): (OwnNote | null)[];
}

/** A group of payments that are tried with these viewing keys. */
export const paymentGroup = (
  ownerTag: bigint,
  viewing: readonly KeyOf<bigint>[],
  payments: readonly SettledEvent[],
): PaymentGroup => ({
  viewer: { viewingKeys: viewing.map(({ key }) => key), ownerTag },
  payments,
  own: (read) =>
    read.map((note) => {
      if (note === null) return null;
      const { key, ...own } = note;
      return { ...own, month: viewing[key]?.month };
    }),
});
