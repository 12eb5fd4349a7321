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
import { Verbatim } from "../../components/verbatim.tsx";
import { merchantDesk } from "../../engine/merchant.ts";
import type { ShownReceipt } from "../../engine/merchant-api.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useConfig } from "../../hooks/use-config.ts";

/** Checks a payer's receipt against the chain. */
export function ReceiptCheck() {
  const config = useConfig();
  const [text, setText] = useState("");
  const [challenge, setChallenge] = useState("");
  const [checked, setChecked] = useState<ShownReceipt>();
  const { busy, failure, run } = useAction();
  return (
    <Form
      className="card stack"
      onSubmit={() => {
        setChecked(undefined);
        run(async () => setChecked(await merchantDesk().assertReceipt(config, text, trimPasted(challenge))));
      }}
    >
      <h2>Check a receipt</h2>
      <TextArea
        label="Receipt"
        required
        spellCheck={false}
        placeholder='{"type":"sotto-receipt", …}'
        value={text}
        onChange={setText}
      />
      <Field
        label="Challenge"
        hint="The text that you asked the payer to sign. Without it, anyone with a copy could show you this receipt."
        maxLength={256}
        value={challenge}
        onChange={setChallenge}
      />
      {failure !== undefined && <ErrorMessage error={failure} />}
      {checked !== undefined && <Checked receipt={checked} />}
      <div className="row">
        <Button type="submit" busy={busy}>
          Check the receipt
        </Button>
      </div>
    </Form>
  );
}

function paidToText(paidTo: NonNullable<ShownReceipt["paidTo"]>): string {
  if (paidTo === "other") return "another address than those of your keys";
  return paidTo === "lasting" ? "your lasting address" : `your address of ${paidTo}`;
}

function Checked({ receipt }: { readonly receipt: ShownReceipt }) {
  const { amount, resourceUrl, timestamp, recipient, transaction, challenge, paidTo } = receipt;
  return (
    <div className="notice" data-tone={paidTo === "other" ? "warn" : "good"} role="status">
      <p>
        <strong>The payment settled on this chain.</strong>
      </p>
      <dl className="facts">
        <dt>Amount</dt>
        <dd>
          <Amount value={amount} />
        </dd>
        <dt>Resource</dt>
        <Verbatim as="dd" className="url">
          {resourceUrl}
        </Verbatim>
        <dt>Paid</dt>
        <dd>
          <Time at={timestamp} />
        </dd>
        <dt>Recipient</dt>
        <dd>
          <Hash value={recipient.wallet} name="recipient's wallet" />
        </dd>
        {paidTo !== undefined && (
          <>
            <dt>Paid to</dt>
            <dd>{paidToText(paidTo)}</dd>
          </>
        )}
        <dt>Transaction</dt>
        <dd>
          <Hash value={transaction} name="transaction" />
        </dd>
        <dt>Challenge</dt>
        <dd>{challenge === "" ? "none: anyone with a copy can show it" : <Verbatim>{challenge}</Verbatim>}</dd>
      </dl>
    </div>
  );
}
