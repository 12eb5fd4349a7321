import { useState } from "react";
import { useLocation } from "wouter";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Field } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Hash } from "../../components/hash.tsx";
import { Icon } from "../../components/icon.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { WalletView } from "../../engine/api.ts";
import { engine } from "../../engine/page.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useConfig } from "../../hooks/use-config.ts";
import { formatAmount, readAmount } from "../../lib/amount.ts";
import { saveText, today } from "../../lib/save.ts";
import { PassphraseForm } from "./passphrase.tsx";
import { WordList } from "./word-list.tsx";

export function SettingsView({ wallet }: { readonly wallet: WalletView }) {
  return (
    <div className="columns">
      <div className="stack loose">
        <LimitsCard wallet={wallet} />
        <Backup />
        <Words />
      </div>
      <div className="stack loose">
        <About />
        <Leave />
      </div>
    </div>
  );
}

function LimitsCard({ wallet: { limits } }: { readonly wallet: WalletView }) {
  const plain = (amount: bigint) => formatAmount(amount).replaceAll(",", "");
  const [perRequest, setPerRequest] = useState(plain(limits.maxPerRequest));
  const [perDay, setPerDay] = useState(plain(limits.maxPerDay));
  const [saved, setSaved] = useState(false);
  const { busy, failure, run } = useAction();
  const change = (set: (value: string) => void) => (value: string) => {
    setSaved(false);
    set(value);
  };
  return (
    <section className="card" aria-labelledby="limits">
      <header>
        <h2 id="limits">Limits</h2>
      </header>
      <Form
        className="stack"
        onSubmit={() => {
          run(async () => {
            await engine().setLimits({ maxPerRequest: readAmount(perRequest), maxPerDay: readAmount(perDay) });
            setSaved(true);
          });
        }}
      >
        <p className="small soft">The wallet refuses payments above these limits. It always asks before it pays.</p>
        <Field
          label="Per payment"
          inputMode="decimal"
          unit="USDC"
          required
          value={perRequest}
          onChange={change(setPerRequest)}
        />
        <Field
          label="Per day"
          hint="A day is a UTC day."
          inputMode="decimal"
          unit="USDC"
          required
          value={perDay}
          onChange={change(setPerDay)}
        />
        {failure !== undefined && <ErrorMessage error={failure} />}
        <div className="row">
          <Button type="submit" busy={busy}>
            Save limits
          </Button>
          <span className="small soft" role="status">
            {saved ? "Saved." : ""}
          </span>
        </div>
      </Form>
    </section>
  );
}

function Backup() {
  const [open, setOpen] = useState(false);
  return (
    <section className="card stack" aria-labelledby="backup">
      <h2 id="backup">Backup</h2>
      <p className="small soft">
        An encrypted file with the key and with what the chain does not know: names of merchants, open payments,
        receipts. Your 24 words alone restore the money.
      </p>
      {open ? (
        <PassphraseForm
          isNew={false}
          action="Save the backup"
          onPassphrase={async (passphrase) => {
            saveText(`sotto-backup-${today()}.json`, "application/json", await engine().backup(passphrase));
            setOpen(false);
          }}
        />
      ) : (
        <div className="row">
          <Button onClick={() => setOpen(true)}>
            <Icon name="save" /> Make a backup
          </Button>
        </div>
      )}
    </section>
  );
}

function Words() {
  const [open, setOpen] = useState(false);
  const [words, setWords] = useState<string>();
  return (
    <section className="card stack" aria-labelledby="words">
      <h2 id="words">The 24 words</h2>
      {words === undefined ? (
        <p className="small soft">Anyone who sees them can take the money.</p>
      ) : (
        <WordList words={words} />
      )}
      {words !== undefined && (
        <div className="row">
          <Button onClick={() => setWords(undefined)}>Hide the words</Button>
        </div>
      )}
      {words === undefined && open && (
        <PassphraseForm
          isNew={false}
          action="Show the words"
          onPassphrase={async (passphrase) => {
            setWords(await engine().words(passphrase));
            setOpen(false);
          }}
        />
      )}
      {words === undefined && !open && (
        <div className="row">
          <Button onClick={() => setOpen(true)}>Show the words</Button>
        </div>
      )}
    </section>
  );
}

function About() {
  const { deployment, service, nodes } = useConfig();
  return (
    <section className="card" aria-labelledby="pool">
      <header>
        <h2 id="pool">Pool</h2>
      </header>
      <dl className="facts">
        <dt>Network</dt>
        <Verbatim as="dd">{`${deployment.network}, chain ${deployment.chainId}`}</Verbatim>
        <dt>Contract</dt>
        <dd>
          <Hash value={deployment.pool} name="pool's address" />
        </dd>
        <dt>Token</dt>
        <dd>
          <Hash value={deployment.token} name="token's address" />
        </dd>
        <dt>Keys</dt>
        <Verbatim as="dd">{deployment.set}</Verbatim>
        <dt>Service</dt>
        <Verbatim as="dd">{service}</Verbatim>
        <dt>Node</dt>
        <Verbatim as="dd">{nodes.map((node) => new URL(node).host).join(", ")}</Verbatim>
      </dl>
    </section>
  );
}

function Leave() {
  const [removing, setRemoving] = useState(false);
  const [, navigate] = useLocation();
  const { busy, run } = useAction();
  return (
    <section className="card stack" aria-labelledby="leave">
      <h2 id="leave">This browser</h2>
      <div className="row">
        <Button busy={busy} onClick={() => run(() => engine().lock())}>
          <Icon name="lock" /> Lock
        </Button>
        {!removing && (
          <Button kind="danger" onClick={() => setRemoving(true)}>
            Remove the wallet
          </Button>
        )}
      </div>
      {removing && (
        <>
          <p className="small soft">
            Removes key and data from this browser. Without the 24 words or a backup, the money is lost.
          </p>
          <PassphraseForm
            isNew={false}
            kind="danger"
            action="Remove it from this browser"
            onPassphrase={async (passphrase) => {
              await engine().remove(passphrase);
              navigate("/wallet");
            }}
          />
        </>
      )}
    </section>
  );
}
