// Takes what attachments show into a purchase: it is recorded before anybody sees it.
import type { NoteChoice, StoreValue, Wallet, WalletNote } from "@sotto/wallet";
import type { AttachedPayment, AttachmentRecord, NoteWish, PayingAttachment } from "./attachment.ts";
import { PurchaseError } from "./errors.ts";

/** Maximum characters of what is shown. */
const MAX_SHOWN = 4_096;
const SHOWN = /^[!-~]+$/;

/**
 * What the 402 asks for that these attachments can show, with what earlier payments of the purchase showed. What they showed stays, also if
 * this 402 does not ask for it.
 */
export function askedAttachments(
  attachments: readonly PayingAttachment[],
  offers: ReadonlyMap<string, unknown>,
  before: readonly AttachmentRecord[] = [],
): readonly AttachmentRecord[] {
  const asked = attachments.flatMap(({ name, header, field }): AttachmentRecord[] => {
    if (!offers.has(name)) return [];
    const shown = before.find((record) => record.name === name)?.shown ?? {};
    return [{ name, header, ...(field === undefined ? {} : { field }), asked: offers.get(name) as StoreValue, shown }];
  });
  const kept = before.filter(
    ({ name, shown }) => !asked.some((each) => each.name === name) && Object.keys(shown).length > 0,
  );
  return [...asked, ...kept.map(({ asked: _, ...record }) => record)];
}

/** The attachment of a record, if the last 402 asks for it. */
const attachmentOf = (
  attachments: readonly PayingAttachment[] = [],
  { name, asked }: AttachmentRecord,
): PayingAttachment | undefined =>
  asked === undefined ? undefined : attachments.find((attachment) => attachment.name === name);

/**
 * Which notes may pay for a purchase: those that every attachment allows.
 * @throws the errors of attachments
 */
export async function chooseNotes(
  attachments: readonly PayingAttachment[] | undefined,
  records: readonly AttachmentRecord[] | undefined,
  wish: NoteWish,
): Promise<NoteChoice> {
  const choices: NoteChoice[] = [];
  for (const record of records ?? []) {
    const choice = await attachmentOf(attachments, record)?.choose?.(record.asked, wish);
    if (choice !== undefined) choices.push(choice);
  }
  const [prefer, only] = [choices.flatMap((each) => each.prefer ?? []), choices.flatMap((each) => each.only ?? [])];
  return {
    ...(prefer.length > 0 && { prefer: (note) => prefer.every((accepts) => accepts(note)) }),
    ...(only.length > 0 && { only: (note) => only.every((accepts) => accepts(note)) }),
  };
}

/** A payment beside which attachments may be shown. */
export interface ShowingPayment extends Pick<AttachedPayment, "nullifier" | "signal"> {
  /** Its id in the wallet. */
  readonly id: string;
  /** Whether its proof may have left the process. */
  readonly hasLeft: boolean;
}

/** How long a purchase waits for a note that its attachments allow, ms. */
export const longestWait = (
  attachments: readonly PayingAttachment[] | undefined,
  records: readonly AttachmentRecord[] = [],
): number => Math.max(0, ...records.map((record) => attachmentOf(attachments, record)?.waitMs ?? 0));

/** Lets attachments make ready what the next payment, which spends this note, will show. An error only costs the advantage. */
export async function prepareShown(
  attachments: readonly PayingAttachment[],
  records: readonly AttachmentRecord[] = [],
  note: WalletNote,
): Promise<void> {
  for (const record of records)
    await attachmentOf(attachments, record)
      ?.prepare?.(record.asked, note)
      .catch(() => undefined);
}

/**
 * What a payment shows, to be journaled before the payment leaves the process. A payment that has left shows the same again, also if that
 * is nothing.
 * @param records what the 402 asks for
 * @returns the records with what the payment shows
 * @throws PurchaseError PURCHASE_INVALID; the errors of attachments
 */
export async function attach(
  wallet: Pick<Wallet, "notes">,
  attachments: readonly PayingAttachment[] | undefined,
  records: readonly AttachmentRecord[],
  { id, nullifier, signal, hasLeft }: ShowingPayment,
): Promise<readonly AttachmentRecord[]> {
  const note = wallet.notes().find((each) => each.nullifier === nullifier);
  const attached: AttachmentRecord[] = [];
  for (const each of records) {
    if (each.shown[id] !== undefined) {
      attached.push(each);
      continue;
    }
    const attachment = hasLeft ? undefined : attachmentOf(attachments, each);
    const shown =
      attachment === undefined || note === undefined
        ? ""
        : ((await attachment.show(each.asked, { note, nullifier, signal })) ?? "");
    if (shown !== "" && (typeof shown !== "string" || shown.length > MAX_SHOWN || !SHOWN.test(shown)))
      throw new PurchaseError("PURCHASE_INVALID", `the attachment ${each.name} shows what no header can have`);
    attached.push({ ...each, shown: { ...each.shown, [id]: shown } });
  }
  return attached;
}

const shownWith = (
  records: readonly AttachmentRecord[] = [],
  payment: string,
): readonly (AttachmentRecord & { readonly text: string })[] =>
  records.flatMap((each) => {
    const text = each.asked === undefined ? "" : (each.shown[payment] ?? "");
    return text === "" ? [] : [{ ...each, text }];
  });

/**
 * The fields of /verify that show attachments of a payment.
 * @param payment its id in the wallet
 */
export const attachedFields = (
  records: readonly AttachmentRecord[] | undefined,
  payment: string,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    shownWith(records, payment).flatMap(({ field, text }) => (field === undefined ? [] : [[field, text] as const])),
  );

/**
 * The headers that show attachments of a payment.
 * @param payment its id in the wallet
 */
export const attachedHeaders = (
  records: readonly AttachmentRecord[] | undefined,
  payment: string,
): Readonly<Record<string, string>> =>
  Object.fromEntries(shownWith(records, payment).map(({ header, text }) => [header, text]));
