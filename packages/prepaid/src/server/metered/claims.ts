// Answers claims: what was charged, with a signed receipt, and change for the rest of the token.
import { type Bytes32, bytesToHex, hexToBytes } from "@sotto/protocol";
import { CheckUnavailable, type PaywallCore } from "@sotto/resource-server";
import { decodeUnitCounts } from "../../core/metered/units.ts";
import { nonceOfTokenKey } from "../../core/token-key.ts";
import {
  type ChangeAnswer,
  type ChangeRequest,
  changeClaimOf,
  changeOf,
  decodeMeteredRule,
  formatReceipt,
  type MeteredRule,
  meteredRuleHash,
  PREPAID_KEY_BYTES,
  parseReceipt,
  redeemsAt,
  signReceipt,
  tokenIdHash,
  verifyChangeClaim,
} from "../../index.ts";
import type { Key } from "../keyring.ts";
import type { Prepaid } from "../prepaid.ts";
import { refuse } from "../responses.ts";
import type { MeteredRow } from "../schema.ts";
import { unsignable } from "../signer.ts";
import { spendId, type TokenId } from "../token-id.ts";
import type { Charges } from "./charges.ts";
import { Repeats } from "./repeats.ts";
import type { FoundRow, Stored } from "./store.ts";

/** Seconds after which a claim is repeated while the request runs, at most. */
const MAX_RETRY_S = 5;

export interface ClaimParts {
  readonly core: Pick<PaywallCore, "origin" | "wallet" | "deployment" | "clock">;
  readonly prepaid: Prepaid;
  readonly charges: Charges;
  /** Receipt secrets by month. */
  readonly secrets: ReadonlyMap<string, Uint8Array>;
  /** Called when change was signed. @param charge base units */
  readonly onClaimed: (key: Key, charge: bigint, tokens: number) => void;
}

export class Claims {
  readonly #parts: ClaimParts;
  readonly #repeats: Repeats;
  /** The last claim of each token that is worked on. */
  readonly #turns = new Map<string, Promise<ChangeAnswer>>();

  constructor(parts: ClaimParts) {
    this.#parts = parts;
    this.#repeats = new Repeats(() => parts.core.clock());
  }

  /** @throws Refusal; CheckUnavailable; the errors of the store */
  async answer(request: ChangeRequest): Promise<ChangeAnswer> {
    const { token, row } = await this.#charged(request);
    const id = spendId(token);
    const before = this.#turns.get(id);
    // One claim of a token after the other: the next one finds what the first one stored, and signs nothing.
    const turn =
      before === undefined
        ? this.#answerCharged(request, token, row)
        : before.catch(() => undefined).then(async () => this.#answerCharged(request, token, await this.#find(token)));
    this.#turns.set(id, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    }
  }

  /** @param token whose charge is final; the claim is signed by its key */
  async #answerCharged(request: ChangeRequest, token: TokenId, row: FoundRow): Promise<ChangeAnswer> {
    const claim = changeClaimOf(this.#parts.core.origin, request);
    // A batch for another charge has other values: its signatures would be worthless, and the change lost.
    const isFitting = request.charge === undefined || request.charge === BigInt(row.charge);
    const batch = isFitting ? (claim.batch as Bytes32 | undefined) : undefined;
    if (row.receipt !== null && (batch === undefined || row.batch === batch)) {
      const seconds = this.#repeats.count(`${spendId(token)}:${batch ?? ""}`);
      if (seconds !== undefined)
        refuse("PREPAID_UNAVAILABLE", "this was answered several times; try again later", seconds);
      // Another server may have stored the answer.
      await this.#parts.prepaid.recordRead();
      return answerOf(row, row, batch);
    }
    if (batch !== undefined && row.batch !== null) return otherBatch();
    const receipt = row.receipt ?? formatReceipt(this.#receipt(row));
    const change = batch === undefined ? undefined : { batch, signatures: await this.#sign(row, request.batch!) };
    const keyIds = this.#changeKeys(row).map(({ id }) => id);
    const stored = await this.#parts.prepaid.commits.claim({ ...token, keyIds, receipt, change });
    if (stored === "closed") return ended(row);
    // The row was charged, and rows are kept as long as claims are answered.
    if (stored === undefined) throw new CheckUnavailable("STORE_UNAVAILABLE");
    if (batch !== undefined && stored.batch !== batch) return otherBatch();
    if (!stored.isNew)
      // Another server has stored the answer.
      await this.#parts.prepaid.recordRead();
    else if (change !== undefined) {
      const tokens = change.signatures.length / PREPAID_KEY_BYTES;
      this.#parts.onClaimed(this.#parts.prepaid.keyring.find(row.key_id)!, BigInt(row.charge), tokens);
    }
    return answerOf(row, stored, batch);
  }

  /** The token of a claim, once its charge is final. The cheapest check is first. */
  async #charged({ token, proof, batch }: ChangeRequest): Promise<{ readonly token: TokenId; readonly row: FoundRow }> {
    const { core, charges } = this.#parts;
    if (nonceOfTokenKey(hexToBytes(proof.publicKey, 32, "publicKey")) !== token.nonce) return wrongProof();
    if (this.#parts.prepaid.keyring.find(token.keyId) === undefined)
      return refuse("METERED_UNKNOWN", "this server has no such key");
    const found = {
      keyId: token.keyId,
      nonce: Buffer.from(token.nonce.slice(2), "hex").toString("base64url"),
    };
    if (!(await charges.stored(found)))
      return refuse("METERED_RUNNING", "the charge of the request is being stored; try again", MAX_RETRY_S);
    let row = await this.#find(found);
    if (!verifyChangeClaim(changeClaimOf(core.origin, { token, batch }), proof)) return wrongProof();
    this.#assertOpen(row);
    if (row.state === "running" && row.remaining <= 0) {
      await this.#parts.prepaid.store.metered.closeOverdue(found);
      row = await this.#find(found);
    }
    if (row.state === "running")
      refuse(
        "METERED_RUNNING",
        "the request still runs; try again",
        Math.max(1, Math.min(MAX_RETRY_S, Math.ceil(row.remaining / 1_000))),
      );
    return { token: found, row };
  }

  async #find(token: TokenId): Promise<FoundRow> {
    const row = await this.#parts.prepaid.store.metered.find(token);
    return row ?? refuse("METERED_UNKNOWN", "no request of a metered route was paid with this token here");
  }

  /** Refuses claims whose change nobody could spend, and those of keys that were closed after a restore. */
  #assertOpen({ cap, change_epoch }: MeteredRow): void {
    const { core, prepaid } = this.#parts;
    const key = prepaid.keyring.at(BigInt(cap), change_epoch);
    if (key === undefined || prepaid.keyring.isClosed(key.id) || !redeemsAt(change_epoch, core.clock()))
      ended({ change_epoch });
  }

  /** The key of the cap in the month of the change, and those of the change. */
  #changeKeys(row: MeteredRow): readonly Key[] {
    const { keyring } = this.#parts.prepaid;
    const values = [BigInt(row.cap), ...changeOf(ruleOf(row), BigInt(row.charge))];
    return values.flatMap((value) => keyring.at(value, row.change_epoch) ?? []);
  }

  /** The receipt of a row: the same bytes whenever it is signed. */
  #receipt(row: MeteredRow) {
    const { core, secrets } = this.#parts;
    const secret = secrets.get(row.epoch);
    if (secret === undefined)
      throw new CheckUnavailable("METERED_RECEIPT_KEY", 60, new Error(`no receipt key for ${row.epoch}`));
    const { origin, wallet, deployment } = core;
    const { cap, epoch, method, target, charge } = row;
    return signReceipt(
      {
        ...{ wallet, chainId: deployment.chainId, pool: deployment.pool as typeof wallet, origin },
        ...{ epoch, method, target },
        token: tokenIdHash({ keyId: row.key_id, nonce: bytesToHex(Buffer.from(row.nonce, "base64url")) }),
        rule: meteredRuleHash(ruleOf(row)),
        units: decodeUnitCounts(JSON.parse(row.units)),
        charge: BigInt(charge),
        change: BigInt(cap) - BigInt(charge),
      },
      secret,
    );
  }

  async #sign(row: MeteredRow, batch: Uint8Array): Promise<Uint8Array> {
    const { keyring, signer } = this.#parts.prepaid;
    const values = changeOf(ruleOf(row), BigInt(row.charge));
    if (batch.length !== values.length * PREPAID_KEY_BYTES)
      refuse(
        "METERED_REQUEST_INVALID",
        `the change is ${values.join(" + ") || "0"} base units, so the batch must have ${values.length} messages`,
      );
    const keys = values.map((value) => keyring.at(value, row.change_epoch));
    if (!keys.every((key): key is Key => key?.privateKey !== undefined))
      throw new CheckUnavailable("METERED_KEYS", 60, new Error(`a key of ${row.change_epoch} is missing`));
    const wrong = unsignable(batch, (message) => keys[message]!);
    if (wrong !== undefined) refuse("METERED_REQUEST_INVALID", `message ${wrong} is not below its key's modulus`);
    return signer.sign(keys, batch);
  }
}

const wrongProof = (): never =>
  refuse("METERED_CLAIM_INVALID", "the claim is not signed with the key of this token for this batch and origin");

const ended = ({ change_epoch }: Pick<MeteredRow, "change_epoch">): never =>
  refuse("METERED_ENDED", `the change of this token was for ${change_epoch}, and its tokens are no longer accepted`);

const otherBatch = (): never =>
  refuse("METERED_BATCH_OTHER", "the change of this token was signed for another batch; send that batch");

const ruleOf = ({ rule }: MeteredRow): MeteredRule => decodeMeteredRule(JSON.parse(rule));

function answerOf({ change_epoch }: MeteredRow, { receipt, signatures }: Stored, batch: string | undefined) {
  const signed = batch === undefined || signatures === null ? {} : { signatures: new Uint8Array(signatures) };
  return { epoch: change_epoch, receipt: parseReceipt(receipt), ...signed };
}
