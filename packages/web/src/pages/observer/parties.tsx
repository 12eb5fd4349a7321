import { type ReactNode, useMemo } from "react";
import { Link } from "wouter";
import { Amount } from "../../components/amount.tsx";
import { Hash } from "../../components/hash.tsx";
import { Icon, type IconName } from "../../components/icon.tsx";
import { Time } from "../../components/time.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { EngineState } from "../../engine/api.ts";
import { KeyForm } from "./key-form.tsx";
import { type SeenPayment, type Sent, sentFor } from "./payments.ts";
import type { Observation } from "./use-observation.ts";

/** The same questions for each party, in this order. */
const QUESTIONS = [
  "How much?",
  "Who paid?",
  "Who was paid?",
  "For what?",
  "Which note was spent?",
  "When?",
  "Which payments have the same payer?",
] as const;

type Tone = "known" | "partly" | "hidden";

interface Answer {
  readonly tone: Tone;
  readonly value: ReactNode;
  /** The reason for the answer, or its source. */
  readonly why?: string | undefined;
}

/** One answer per question, or the reason why there are none. */
type Knowledge = { readonly answers: readonly Answer[] } | { readonly nothing: ReactNode };

const known = (value: ReactNode, why?: string): Answer => ({ tone: "known", value, why });
const partly = (value: ReactNode, why?: string): Answer => ({ tone: "partly", value, why });
const hidden = (value: ReactNode, why?: string): Answer => ({ tone: "hidden", value, why });

const TONES: Record<Tone, { readonly icon: IconName; readonly text: string }> = {
  known: { icon: "eye", text: "Knows" },
  partly: { icon: "eye", text: "Partly" },
  hidden: { icon: "hidden", text: "Does not know" },
};

/** Four columns: what each party learns about one payment. */
export function Parties({ payment, seen }: { readonly payment: SeenPayment | undefined; readonly seen: Observation }) {
  const { requests, engine, spent, amounts, keyMonths, forgetKey } = seen;
  const sent = useMemo(() => (payment === undefined ? undefined : sentFor(payment, requests)), [payment, requests]);
  const read = payment?.chain === undefined ? undefined : amounts.get(payment.chain.event.digest);
  const leaf = payment?.chain === undefined ? undefined : spent.get(payment.chain.event.nullifier);
  const keySource =
    keyMonths === undefined ? (
      "The viewing key that you enter"
    ) : (
      <span>
        <span>{`With the keys of ${keyMonths}`}</span>{" "}
        <button type="button" className="link" onClick={forgetKey}>
          Forget the key
        </button>
      </span>
    );
  return (
    <section aria-labelledby="parties" className="stack">
      <div>
        <h2 id="parties">Who knows what</h2>
        <p className="soft small">
          {payment === undefined
            ? "As soon as there is a payment, the answers appear here."
            : "Every answer is taken from what that party has: nothing is filled in from another column."}
        </p>
      </div>
      <div className="parties">
        <Party name="payer" icon="wallet" title="The payer knows" source="This browser's wallet">
          {payerKnows(payment, engine, leaf)}
        </Party>
        <Party name="merchant" icon="merchant" title="The merchant knows" source={keySource}>
          {keyMonths === undefined ? { nothing: <KeyForm seen={seen} /> } : merchantKnows(payment, read)}
        </Party>
        <Party name="service" icon="service" title="The service sees" source="What this page sent to it">
          {serviceSees(payment, sent)}
        </Party>
        <Party name="chain" icon="chain" title="The chain shows" source="What everyone can read, forever">
          {chainShows(payment)}
        </Party>
      </div>
    </section>
  );
}

interface PartyProperties {
  readonly name: string;
  readonly icon: IconName;
  readonly title: string;
  readonly source: ReactNode;
  readonly children: Knowledge;
}

function Party({ name, icon, title, source, children: knowledge }: PartyProperties) {
  return (
    <article className="card card-flush party" data-testid={`party-${name}`} aria-labelledby={`party-${name}`}>
      <header>
        <span className="entry-icon">
          <Icon name={icon} />
        </span>
        <div>
          <h3 id={`party-${name}`}>{title}</h3>
          <p className="soft tiny">{source}</p>
        </div>
      </header>
      {"nothing" in knowledge ? (
        <div className="party-nothing soft small">{knowledge.nothing}</div>
      ) : (
        <dl className="answers">
          {knowledge.answers.map(({ tone, value, why }, i) => (
            // The key makes a changed answer a new element, which the style sheet highlights once.
            <div className="answer" data-tone={tone} key={`${QUESTIONS[i]} ${tone}`}>
              <dt>
                <span>{QUESTIONS[i]}</span>
                <span className="answer-tone">
                  <Icon name={TONES[tone].icon} />
                  <span className="hidden-text">{TONES[tone].text}</span>
                </span>
              </dt>
              <dd>
                <div>{value}</div>
                {why !== undefined && <p className="soft tiny">{why}</p>}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </article>
  );
}

function payerKnows(payment: SeenPayment | undefined, engine: EngineState, leaf: number | undefined): Knowledge {
  if (engine.phase !== "open") return { nothing: <NoWallet phase={engine.phase} /> };
  if (payment === undefined) return { nothing: "Nothing yet: this wallet has made no payment." };
  const { own } = payment;
  if (own === undefined)
    return {
      nothing: "This is someone else's payment. This wallet learns no more of it than everyone: the last column.",
    };
  return {
    answers: [
      known(<Amount value={own.amount} />),
      known("This wallet"),
      own.counterparty === ""
        ? known("The merchant that it chose")
        : known(<Hash value={own.counterparty} name="merchant's wallet" />, "The merchant's wallet"),
      own.resource === ""
        ? known("A payment without a page")
        : known(<Verbatim className="url">{own.resource}</Verbatim>),
      leaf === undefined
        ? known("One of its own notes", "Its position shows as soon as the payment is on the chain.")
        : known(`Note ${leaf} of the tree`, "Only the owner can connect the note with its nullifier."),
      known(<Time at={own.at} />),
      known("All of its own"),
    ],
  };
}

const NO_WALLET: Partial<Record<EngineState["phase"], string>> = {
  locked: "The wallet of this browser is locked.",
  empty: "This browser has no wallet.",
  elsewhere: "The wallet is open in another tab.",
  replaced: "The chain was restarted, and the wallet of this browser belongs to the old one.",
};

const NoWallet = ({ phase }: { readonly phase: EngineState["phase"] }) => (
  <p>
    <span>{NO_WALLET[phase] ?? "The wallet is not open."}</span>{" "}
    <Link href="/wallet">{phase === "locked" ? "Unlock it" : "Go to the wallet"}</Link> to see what a payer knows.
  </p>
);

function merchantKnows(payment: SeenPayment | undefined, read: bigint | undefined): Knowledge {
  if (payment?.chain === undefined) return { nothing: "Nothing yet: the payment is not on the chain." };
  const { event } = payment.chain;
  if (read === undefined)
    return {
      nothing: "The keys do not open this payment: it went to another address, and nothing shows which one.",
    };
  return {
    answers: [
      known(<Amount value={read} />, "Decrypted with the viewing key. The payer proved that it is right."),
      hidden("Not in the payment", "Its server saw the network address of its visitor."),
      known("Itself"),
      partly("What its server was asked for", "Known from the request for the page, not from the chain."),
      hidden("One of all candidates", "It has the nullifier, like everyone."),
      known(<Time at={event.timestamp * 1000} />, `Block ${event.blockNumber}`),
      hidden("Not from payments", "Only by a network address or a session, as with every web server."),
    ],
  };
}

function serviceSees(payment: SeenPayment | undefined, sent: Sent | undefined): Knowledge {
  if (payment === undefined) return { nothing: "Nothing yet: nothing was sent." };
  if (sent === undefined) {
    if (payment.own === undefined) return { nothing: "This page sent nothing for this payment: another payer did." };
    if (payment.chain === undefined) return { nothing: "Nothing yet: no proof was sent." };
    return {
      nothing:
        "This browser forgot what it sent when the wallet was locked or the page was reloaded. A new payment fills this column.",
    };
  }
  const { bundle, range, signals } = sent.statement;
  const { lowerBound, upperBound } = range;
  return {
    answers: [
      partly(
        <span>
          <Amount value={lowerBound} /> to <Amount value={upperBound} />
        </span>,
        "It can also test each amount in between, and so find the right one.",
      ),
      partly("A network address", "Every connection has one. The bundle names no payer."),
      known(<Hash value={bundle.recipientPublicKey} name="merchant's wallet" />, "The merchant's wallet"),
      known(<Verbatim className="url">{bundle.resourceUrl}</Verbatim>),
      hidden(
        <Hash value={hexOf(signals.nullifier)} name="nullifier" />,
        "Only the nullifier, which the chain shows as well.",
      ),
      known(<Time at={sent.verified} clock />, sent.settled === undefined ? "Checked" : "Checked, then settled"),
      partly("By network address", "Two payments have nothing in common that it could compare."),
    ],
  };
}

const hexOf = (word: bigint): string => `0x${word.toString(16).padStart(64, "0")}`;

function chainShows(payment: SeenPayment | undefined): Knowledge {
  if (payment === undefined) return { nothing: "Nothing yet: there is no payment on the chain." };
  if (payment.chain === undefined) return { nothing: "Nothing yet: the relayer has not settled the payment." };
  const { event, crowd } = payment.chain;
  return {
    answers: [
      hidden("Encrypted"),
      hidden("No account", "A relayer sends the transaction and pays its fee."),
      hidden("No account", "The merchant's new note is a hash."),
      hidden("A hash with a secret"),
      hidden(
        <Hash value={hexOf(event.nullifier)} name="nullifier" />,
        `A nullifier: it fits each of the ${crowd.notesBefore} notes that were in the tree equally well.`,
      ),
      known(<Time at={event.timestamp * 1000} />, `Block ${event.blockNumber}`),
      hidden("Nothing in common", "Every value is new for each payment."),
    ],
  };
}
