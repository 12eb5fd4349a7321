// Takes what attachments show into a purchase: it is recorded before anybody sees it.
import type { NoteChoice, StoreValue } from "@sotto/wallet";
import type { AttachedPayment, AttachmentRecord, NoteWish, PayingAttachment } from "./attachment.ts";
import type { Context } from "./context.ts";
import { PurchaseError } from "./errors.ts";
import type { PurchaseRecord } from "./record.ts";

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

/**
 * What a payment shows, to be journaled before the payment leaves the process. A payment that has left shows the same again, also if that
 * is nothing.
 * @throws PurchaseError PURCHASE_INVALID; the errors of attachments
 */
export async function attach(
  context: Context,
  payment: string,
  attempt: Pick<AttachedPayment, "nullifier">,
): Promise<readonly AttachmentRecord[] | undefined> {
  const { record, wallet, options } = context;
  if (record.attachments === undefined) return undefined;
  const note = wallet.notes().find(({ nullifier }) => nullifier === attempt.nullifier);
  const hasLeft = record.sent.some((sent) => sent.payment === payment);
  const attached: AttachmentRecord[] = [];
  for (const each of record.attachments) {
    if (each.shown[payment] !== undefined) {
      attached.push(each);
      continue;
    }
    const attachment = hasLeft ? undefined : attachmentOf(options.attachments, each);
    const shown =
      attachment === undefined || note === undefined
        ? ""
        : ((await attachment.show(each.asked, { ...attempt, note, signal: options.signal })) ?? "");
    if (shown !== "" && (typeof shown !== "string" || shown.length > MAX_SHOWN || !SHOWN.test(shown)))
      throw new PurchaseError("PURCHASE_INVALID", `the attachment ${each.name} shows what no header can have`);
    attached.push({ ...each, shown: { ...each.shown, [payment]: shown } });
  }
  return attached;
}

const shownWith = (
  record: PurchaseRecord,
  payment: string,
): readonly (AttachmentRecord & { readonly text: string })[] =>
  (record.attachments ?? []).flatMap((each) => {
    const text = each.asked === undefined ? "" : (each.shown[payment] ?? "");
    return text === "" ? [] : [{ ...each, text }];
  });

/** The fields of /verify that show attachments of a payment. */
export const attachedFields = (record: PurchaseRecord, payment: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    shownWith(record, payment).flatMap(({ field, text }) => (field === undefined ? [] : [[field, text] as const])),
  );

/** The headers that show attachments of a payment. */
export const attachedHeaders = (record: PurchaseRecord, payment: string): Readonly<Record<string, string>> =>
  Object.fromEntries(shownWith(record, payment).map(({ header, text }) => [header, text]));
