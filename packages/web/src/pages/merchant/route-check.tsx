import type { PaymentInstructions } from "@sotto/protocol";
import { type ReactNode, useState } from "react";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Field } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Hash } from "../../components/hash.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import { merchantDesk } from "../../engine/merchant.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useConfig } from "../../hooks/use-config.ts";

/** Shows the 402 response of a route as clients read it. */
export function RouteCheck() {
  const { merchants, deployment } = useConfig();
  const [url, setUrl] = useState(merchants[0]?.url ?? "");
  const [found, setFound] = useState<PaymentInstructions>();
  const { busy, failure, run } = useAction();
  return (
    <Form
      className="card stack"
      onSubmit={() => {
        setFound(undefined);
        run(async () => setFound(await merchantDesk().readInstructions(url)));
      }}
    >
      <h2>What clients read in a 402</h2>
      <Field
        label="Resource"
        type="url"
        required
        placeholder="https://merchant.example/report"
        hint="The page requests it without paying."
        value={url}
        onChange={setUrl}
      />
      {failure !== undefined && <ErrorMessage error={failure} />}
      {found !== undefined && <Instructions of={found} pool={deployment.pool} />}
      <div className="row">
        <Button type="submit" busy={busy}>
          Request it
        </Button>
      </div>
    </Form>
  );
}

interface Line {
  readonly field: string;
  readonly value: ReactNode;
  readonly means: string;
}

function linesOf({ payment, metadata }: PaymentInstructions, pool: string): Line[] {
  const { recipient } = payment;
  return [
    {
      field: "amountBaseUnits",
      value: <Amount value={BigInt(payment.amountBaseUnits)} />,
      means: "The price. Clients compare it with their limits.",
    },
    {
      field: "recipient.wallet",
      value: <Hash value={recipient.wallet} name="wallet" />,
      means:
        "Signs the shielded address. Clients remember it, and refuse a different wallet until the user accepts it.",
    },
    {
      field: "recipient.shieldedAddress",
      value: <Hash value={recipient.shieldedAddress} name="shielded address" />,
      means: "Where the note goes. Only its viewing key opens the amount.",
    },
    {
      field: "recipient.phone",
      value: recipient.phone === "" ? "none" : <Verbatim>{recipient.phone}</Verbatim>,
      means: "A phone number that the registry linked to the wallet.",
    },
    {
      field: "chainId, pool",
      value:
        payment.pool === pool ? (
          `${payment.chainId}, this page's pool`
        ) : (
          <Verbatim>{`${payment.chainId}, ${payment.pool}`}</Verbatim>
        ),
      means: "Clients refuse a pool that they do not know.",
    },
    {
      field: "verifyEndpoint",
      value: <Verbatim className="url">{payment.verifyEndpoint}</Verbatim>,
      means: "The service that checks and settles the payment. Clients refuse one that they do not trust.",
    },
    {
      field: "metadata.resource",
      value: <Verbatim className="url">{metadata.resource}</Verbatim>,
      means: "The proof is bound to this URL, byte for byte, and pays for nothing else.",
    },
    {
      field: "metadata.timestamp",
      value: <Verbatim>{new Date(metadata.timestamp).toISOString()}</Verbatim>,
      means: "When the server wrote this response.",
    },
  ];
}

const Instructions = ({ of, pool }: { readonly of: PaymentInstructions; readonly pool: string }) => (
  <dl className="explained" data-testid="instructions">
    {linesOf(of, pool).map(({ field, value, means }) => (
      <div key={field}>
        <dt>
          <Verbatim as="code">{field}</Verbatim>
        </dt>
        <dd>{value}</dd>
        <dd className="soft small">{means}</dd>
      </div>
    ))}
  </dl>
);
