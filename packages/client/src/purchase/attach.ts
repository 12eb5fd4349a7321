// Takes what attachments show into a purchase: it is recorded before anybody sees it.
import type { NoteChoice, StoreValue } from "@sotto/wallet";
import type { AttachedPayment, AttachmentRecord, NoteWish, PayingAttachment } from "./attachment.ts";
import type { Context } from "./context.ts";
import { PurchaseError } from "./errors.ts";
import type { PurchaseRecord } from "./record.ts";

/** Maximum characters of what is shown. */
const MAX_SHOWN = 4_096;
const SHOWN = /^[!-~]+$/;

/** What the 402 asks for that these attachments can show, with what earlier payments of the purchase showed. */
export function askedAttachments(
  attachments: readonly PayingAttachment[],
  offers: ReadonlyMap<string, unknown>,
  before: readonly AttachmentRecord[] = [],
): readonly AttachmentRecord[] {
  return attachments.flatMap(({ name, header, field }) => {
    if (!offers.has(name)) return [];
    const shown = before.find((record) => record.name === name)?.shown ?? {};
    return [{ name, header, ...(field === undefined ? {} : { field }), asked: offers.get(name) as StoreValue, shown }];
  });
}

const attachmentOf = ({ options }: Context, { name }: AttachmentRecord): PayingAttachment | undefined =>
  options.attachments?.find((attachment) => attachment.name === name);

/**
 * Which notes may pay for a purchase: those that every attachment allows.
 * @throws the errors of attachments
 */
export async function chooseNotes(context: Context, wish: NoteWish): Promise<NoteChoice> {
  const choices: NoteChoice[] = [];
  for (const record of context.record.attachments ?? []) {
    const choice = await attachmentOf(context, record)?.choose?.(record.asked, wish);
    if (choice !== undefined) choices.push(choice);
  }
  const [prefer, only] = [choices.flatMap((each) => each.prefer ?? []), choices.flatMap((each) => each.only ?? [])];
  return {
    ...(prefer.length > 0 && { prefer: (note) => prefer.every((accepts) => accepts(note)) }),
    ...(only.length > 0 && { only: (note) => only.every((accepts) => accepts(note)) }),
  };
}

/**
 * What a payment shows, to be journaled before the payment leaves the process. A payment that has shown something shows the same again.
 * @throws PurchaseError PURCHASE_INVALID; the errors of attachments
 */
export async function attach(
  context: Context,
  payment: string,
  attempt: Pick<AttachedPayment, "nullifier" | "timestamp">,
): Promise<readonly AttachmentRecord[] | undefined> {
  const { record, wallet, options } = context;
  if (record.attachments === undefined) return undefined;
  const note = wallet.notes().find(({ nullifier }) => nullifier === attempt.nullifier);
  const attached: AttachmentRecord[] = [];
  for (const each of record.attachments) {
    const attachment = attachmentOf(context, each);
    if (each.shown[payment] !== undefined || attachment === undefined || note === undefined) {
      attached.push(each);
      continue;
    }
    const shown = (await attachment.show(each.asked, { ...attempt, note, signal: options.signal })) ?? "";
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
    const text = each.shown[payment] ?? "";
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
