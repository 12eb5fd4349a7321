import { trimPasted } from "@sotto/protocol";
import { useState } from "react";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Field } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { TextArea } from "../../components/text-area.tsx";
import { engine } from "../../engine/page.ts";
import { useAction } from "../../hooks/use-action.ts";
import { PassphraseForm } from "./passphrase.tsx";
import { WordList } from "./word-list.tsx";

type Step =
  | { readonly name: "choose" }
  | { readonly name: "show" | "ask" | "protect"; readonly words: string }
  | { readonly name: "restore" }
  | { readonly name: "backup" };

/** Creates or restores a wallet. */
export function Welcome() {
  const [step, setStep] = useState<Step>({ name: "choose" });
  const start = () => setStep({ name: "choose" });
  switch (step.name) {
    case "choose":
      return <Choose onStep={setStep} />;
    case "show":
      return <ShowWords words={step.words} onBack={start} onDone={() => setStep({ ...step, name: "ask" })} />;
    case "ask":
      return (
        <AskWords
          words={step.words}
          onBack={() => setStep({ ...step, name: "show" })}
          onDone={() => setStep({ ...step, name: "protect" })}
        />
      );
    case "protect":
      return (
        <div className="narrow card stack loose">
          <div>
            <h1>Choose a passphrase</h1>
            <p className="soft">
              It opens the wallet in this browser. It cannot be recovered: without it, only the 24 words restore the
              wallet.
            </p>
          </div>
          <PassphraseForm
            isNew
            action="Open the wallet"
            onPassphrase={(passphrase) => engine().create(step.words, passphrase)}
          />
        </div>
      );
    case "restore":
      return <Restore onBack={start} onDone={(words) => setStep({ name: "protect", words })} />;
    case "backup":
      return <RestoreBackup onBack={start} />;
  }
}

function Choose({ onStep }: { onStep(step: Step): void }) {
  const { busy, failure, run } = useAction();
  return (
    <div className="narrow stack loose">
      <div className="stack tight">
        <h1>Pay for things on the web, privately</h1>
        <p className="soft">
          This wallet pays websites in USDC. The chain shows that a payment happened, and nothing else: not who paid,
          not to whom, not how much.
        </p>
      </div>
      <div className="card stack">
        <h2>Start with a new wallet</h2>
        <p className="soft small">You get 24 words. Together they are the wallet; write them down on paper.</p>
        {failure !== undefined && <ErrorMessage error={failure} />}
        <div className="row">
          <Button
            kind="primary"
            busy={busy}
            onClick={() => run(async () => onStep({ name: "show", words: await engine().newWords() }))}
          >
            Create a wallet
          </Button>
        </div>
      </div>
      <div className="card stack">
        <h2>I have a wallet</h2>
        <div className="row">
          <Button onClick={() => onStep({ name: "restore" })}>Restore from 24 words</Button>
          <Button onClick={() => onStep({ name: "backup" })}>Restore from a backup file</Button>
        </div>
      </div>
    </div>
  );
}

interface WordsProperties {
  readonly words: string;
  onBack(): void;
  onDone(): void;
}

function ShowWords({ words, onBack, onDone }: WordsProperties) {
  return (
    <div className="narrow card stack loose">
      <div>
        <h1>Write these 24 words down</h1>
        <p className="soft">
          In this order, on paper. They are shown once. Anyone who has them has the money; nobody can recover them.
        </p>
      </div>
      <WordList words={words} />
      <div className="row">
        <Button kind="primary" onClick={onDone}>
          I have written them down
        </Button>
        <Button onClick={onBack}>Back</Button>
      </div>
    </div>
  );
}

const ASKED = 3;

/** Positions of the words to ask for, in ascending order. */
function choosePositions(count: number): number[] {
  const positions = new Set<number>();
  while (positions.size < ASKED) positions.add(crypto.getRandomValues(new Uint32Array(1))[0]! % count);
  return [...positions].sort((a, b) => a - b);
}

function AskWords({ words, onBack, onDone }: WordsProperties) {
  const list = words.split(" ");
  const [positions] = useState(() => choosePositions(list.length));
  const [typed, setTyped] = useState<readonly string[]>(() => positions.map(() => ""));
  const [wrong, setWrong] = useState(false);
  return (
    <Form
      className="narrow card stack loose"
      onSubmit={() => {
        const right = positions.every((at, i) => trimPasted(typed[i] ?? "").toLowerCase() === list[at]);
        setWrong(!right);
        if (right) onDone();
      }}
    >
      <div>
        <h1>Check what you wrote</h1>
        <p className="soft">Enter these three of your words.</p>
      </div>
      <div className="stack">
        {positions.map((at, i) => (
          <Field
            key={at}
            label={`Word ${at + 1}`}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
            value={typed[i] ?? ""}
            onChange={(value) => setTyped((known) => known.map((old, j) => (j === i ? value : old)))}
          />
        ))}
      </div>
      {wrong && (
        <div className="notice" data-tone="bad" role="alert">
          <p>These are not the words at these positions. Compare them with your paper.</p>
        </div>
      )}
      <div className="row">
        <Button kind="primary" type="submit">
          Continue
        </Button>
        <Button onClick={onBack}>Show the words again</Button>
      </div>
    </Form>
  );
}

function Restore({ onBack, onDone }: { onBack(): void; onDone(words: string): void }) {
  const [words, setWords] = useState("");
  const count = words.split(/\s+/).filter((word) => trimPasted(word) !== "").length;
  return (
    <Form className="narrow card stack loose" onSubmit={() => onDone(words)}>
      <div>
        <h1>Restore from 24 words</h1>
        <p className="soft">
          The wallet finds its notes on the chain again. Names of past merchants are not on the chain.
        </p>
      </div>
      <TextArea
        label="Words"
        className=""
        hint={<span className="number">{`${count} of 24`}</span>}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={words}
        onChange={setWords}
      />
      <div className="row">
        <Button kind="primary" type="submit" disabled={count !== 24}>
          Continue
        </Button>
        <Button onClick={onBack}>Back</Button>
      </div>
    </Form>
  );
}

function RestoreBackup({ onBack }: { onBack(): void }) {
  const [file, setFile] = useState<File>();
  return (
    <div className="narrow card stack loose">
      <div>
        <h1>Restore from a backup file</h1>
        <p className="soft">Use the passphrase of the wallet that made the backup.</p>
      </div>
      <div className="field">
        <label htmlFor="backup">Backup file</label>
        <input
          id="backup"
          className="input"
          type="file"
          accept=".json,application/json"
          onChange={({ target }) => setFile(target.files?.[0])}
        />
      </div>
      {file !== undefined && (
        <PassphraseForm
          isNew={false}
          action="Restore"
          onPassphrase={async (passphrase) => engine().restore(await file.text(), passphrase)}
        />
      )}
      <div>
        <Button onClick={onBack}>Back</Button>
      </div>
    </div>
  );
}
