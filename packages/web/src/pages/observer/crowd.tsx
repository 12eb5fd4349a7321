import { PAYMENT_SIGNAL } from "@sotto/protocol";
import type { SettleTransaction } from "../../engine/observer-api.ts";
import { callOf } from "./fields.ts";
import type { ChainPayment } from "./payments.ts";
import { useLeavesUnder } from "./use-leaves.ts";

/** Maximum number of dots; the rest are shown as a number. */
const MAX_DOTS = 400;

/** Shows how many notes the payment could have spent. */
export function Crowd({
  chain,
  transaction,
}: {
  readonly chain: ChainPayment;
  readonly transaction: SettleTransaction | undefined;
}) {
  const root = callOf(chain.event, transaction?.payments)?.signals[PAYMENT_SIGNAL.root];
  const leaves = useLeavesUnder(root);
  const { spentBefore, notesBefore } = chain.crowd;
  const count = leaves ?? notesBefore;
  const unspent = Math.max(1, count - spentBefore);
  return (
    <section className="card stack" aria-labelledby="crowd" data-testid="crowd">
      <h2 id="crowd">The crowd</h2>
      <div className="crowd">
        <div>
          <p className="crowd-number number">{count.toLocaleString("en")}</p>
          <p className="soft small">
            {count === 1 ? "note could have been spent" : "notes could each have been the one that was spent"}
          </p>
        </div>
        <Dots count={count} />
      </div>
      <ul className="bullets small">
        <li>
          <strong>What the number is:</strong> all notes in the tree{" "}
          <span>
            {leaves === undefined ? "just before the payment settled" : "under the root that the payment's proof names"}
          </span>
          . From the chain alone, none of them can be excluded.
        </li>
        <li>
          <strong>What it is not:</strong> the number of unspent notes.{" "}
          <span>{`${sentenceOf(spentBefore)} At least ${unspent} ${unspent === 1 ? "was" : "were"} unspent.`}</span>
        </li>
        <li>
          <strong>What can make it smaller:</strong> everyone knows their own notes and can leave them out. Time helps
          as well: many people spend a note soon after they got it.
        </li>
      </ul>
    </section>
  );
}

function sentenceOf(spentBefore: number): string {
  if (spentBefore === 0) return "No note had been spent before.";
  const [notes, they] = spentBefore === 1 ? ["One note", "it was"] : [`${spentBefore} notes`, "they were"];
  return `${notes} had been spent before, but the chain does not show which ${they}.`;
}

/** The crowd as a picture: all dots look the same. */
function Dots({ count }: { readonly count: number }) {
  const shown = Math.min(count, MAX_DOTS);
  const columns = Math.min(40, Math.max(24, Math.ceil(Math.sqrt(shown * 4))));
  const rows = Math.ceil(shown / columns);
  return (
    <svg className="dots" viewBox={`0 0 ${columns} ${rows}`} aria-hidden="true">
      {Array.from({ length: shown }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the dots are all the same.
        <circle key={i} cx={(i % columns) + 0.5} cy={Math.floor(i / columns) + 0.5} r="0.34" />
      ))}
    </svg>
  );
}
