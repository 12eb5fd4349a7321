import { trimPasted } from "@sotto/protocol";
import { useState } from "react";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Field } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Hash } from "../../components/hash.tsx";
import { TextArea } from "../../components/text-area.tsx";
import { Time } from "../../components/time.tsx";
import { merchantDesk } from "../../engine/merchant.ts";
import type { ShownEvidence } from "../../engine/merchant-api.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useConfig } from "../../hooks/use-config.ts";

/** Checks evidence of a transaction's origin against the chain. */
export function EvidenceCheck() {
  const config = useConfig();
  const [text, setText] = useState("");
  const [curator, setCurator] = useState("");
  const [name, setName] = useState("");
  const [checked, setChecked] = useState<ShownEvidence>();
  const { busy, failure, run } = useAction();
  return (
    <Form
      className="card stack"
      onSubmit={() => {
        setChecked(undefined);
        const set = { curator: trimPasted(curator), name: trimPasted(name) };
        run(async () => setChecked(await merchantDesk().assertEvidence(config, text, set)));
      }}
    >
      <h2>Check where money comes from</h2>
      <TextArea
        label="Evidence"
        required
        spellCheck={false}
        placeholder='{"format":"sotto origin evidence 1", …}'
        value={text}
        onChange={setText}
      />
      <Field
        label="Curator's account"
        required
        spellCheck={false}
        placeholder="0x…"
        hint="Take it from the curator that you chose, never from the evidence."
        value={curator}
        onChange={setCurator}
      />
      <Field label="Set" required maxLength={32} value={name} onChange={setName} />
      {failure !== undefined && <ErrorMessage error={failure} />}
      {checked !== undefined && <Checked evidence={checked} />}
      <div className="row">
        <Button type="submit" busy={busy}>
          Check the evidence
        </Button>
      </div>
    </Form>
  );
}

function Checked({ evidence }: { readonly evidence: ShownEvidence }) {
  const { notes, time, transaction, withdrawal } = evidence;
  return (
    <div className="notice" data-tone="good" role="status">
      <p>
        <strong>The money of this transaction descends only from deposits that the curator accepted.</strong>
      </p>
      <dl className="facts">
        <dt>{withdrawal === undefined ? "Paid" : "Withdrawn"}</dt>
        <dd>
          <Time at={time} />
        </dd>
        {withdrawal !== undefined && (
          <>
            <dt>Amount</dt>
            <dd>
              <Amount value={withdrawal.amount} />
            </dd>
            <dt>Recipient</dt>
            <dd>
              <Hash value={withdrawal.recipient} name="recipient" />
            </dd>
          </>
        )}
        <dt>Notes</dt>
        <dd>{notes}</dd>
        <dt>Transaction</dt>
        <dd>
          <Hash value={transaction} name="transaction" />
        </dd>
      </dl>
    </div>
  );
}
