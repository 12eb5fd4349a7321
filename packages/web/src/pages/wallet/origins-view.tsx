import { useState } from "react";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Form } from "../../components/form.tsx";
import { Hash } from "../../components/hash.tsx";
import { TextArea } from "../../components/text-area.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { OriginView } from "../../engine/api.ts";
import { engine } from "../../engine/page.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatAge, formatCount, formatNumberOf } from "../../lib/age.ts";

const MAX_SETTINGS_BYTES = 16_384;

/** The curators' sets that the wallet follows. */
export function OriginsView({ origins }: { readonly origins: readonly OriginView[] }) {
  return (
    <div className="columns">
      <div className="stack loose">
        {origins.length === 0 && (
          <section className="card stack" aria-labelledby="none">
            <h2 id="none">No curator followed</h2>
            <p className="small soft">
              A curator lists deposits that it accepts. If you follow it, the wallet can show merchants that ask that
              your money comes from these deposits, and nothing else. Without one, everything works as before.
            </p>
          </section>
        )}
        {origins.map((set) => (
          <SetCard key={`${set.curator}/${set.name}`} set={set} />
        ))}
      </div>
      <div className="stack loose">
        <Follow />
      </div>
    </div>
  );
}

function SetCard({ set }: { readonly set: OriginView }) {
  const { curator, name, url, head, crowd, minimumCrowd, inSet, waiting, outside, reasons } = set;
  const { toClaim, removal, stopped, problem } = set;
  const { busy, failure, run } = useAction();
  const now = useNow();
  return (
    <section className="card stack" aria-label={`Set ${name}`} data-testid="origin">
      <h2>
        <Verbatim>{name}</Verbatim>
      </h2>
      <dl className="facts">
        <dt>In the set</dt>
        <dd data-testid="in-set">
          <Amount value={inSet} />
        </dd>
        <dt>Waiting</dt>
        <dd data-testid="waiting">
          <Amount value={waiting} />
        </dd>
        <dt>Outside</dt>
        <dd data-testid="outside">
          <Amount value={outside} />
        </dd>
      </dl>
      {reasons.length > 0 && (
        <ul className="lines small">
          {reasons.map(({ place, amount, text }) => (
            <li key={text}>
              <span>
                <Amount value={amount} />
                <span className="soft">{`${place === "waiting" ? "Waits" : "Outside"}: ${text}.`}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
      <dl className="facts">
        <dt>Crowd</dt>
        <dd>
          <span>{`${formatNumberOf(crowd, "note")}, minimum ${formatCount(minimumCrowd)}`}</span>
        </dd>
        <dt>Head</dt>
        <dd>
          <span>
            {head === undefined
              ? "none yet"
              : `number ${head.number}, ${formatAge((now - head.at) / 1000)} old, ${formatNumberOf(head.notes, "note")}`}
          </span>
        </dd>
        <dt>Curator</dt>
        <dd>
          <Hash value={curator} name="curator's account" />
        </dd>
        <dt>Address</dt>
        <Verbatim as="dd">{url}</Verbatim>
        {toClaim > 0 && (
          <>
            <dt>Payments to claim</dt>
            <dd>{toClaim}</dd>
          </>
        )}
      </dl>
      {crowd < minimumCrowd && (
        <p className="small soft">The crowd is too small: nothing is shown, because few notes could be yours.</p>
      )}
      {stopped !== undefined && <ErrorMessage error={stopped} />}
      {stopped === undefined && problem !== undefined && removal === undefined && (
        <ErrorMessage error={problem} tone="warn" />
      )}
      {removal !== undefined && (
        <div className="notice" data-tone="warn" role="status">
          <p>{`The curator's next head brings the removed notes to ${formatCount(removal)}. The wallet waits for you.`}</p>
          <div className="row">
            <Button small busy={busy} onClick={() => run(() => engine().acceptRemoval({ curator, name }))}>
              Accept the removal
            </Button>
          </div>
        </div>
      )}
      {failure !== undefined && <ErrorMessage error={failure} />}
      <div className="row">
        <Button small busy={busy} onClick={() => run(() => engine().syncOrigins())}>
          Read it now
        </Button>
        <Button small busy={busy} onClick={() => run(() => engine().unfollowOrigin({ curator, name }))}>
          Unfollow
        </Button>
      </div>
    </section>
  );
}

function Follow() {
  const [text, setText] = useState("");
  const { busy, failure, run } = useAction();
  return (
    <Form
      className="card stack"
      onSubmit={() => {
        run(async () => {
          await engine().followOrigin(text);
          setText("");
        });
      }}
    >
      <h2>Follow a curator</h2>
      <p className="small soft">
        Follow only curators that you chose yourself, never one that a merchant names: its set could be made to find
        your notes. Its server sees this browser's network address. The claims of your payments say in public that their
        payer follows the curator.
      </p>
      <TextArea
        label="Settings (JSON)"
        required
        spellCheck={false}
        placeholder='{"curator": "0x…", "name": "clean", "url": "https://…"}'
        hint="The curator publishes its account, the set's name and its address. You may add mirrors and minimumCrowd."
        value={text}
        onChange={setText}
      />
      {failure !== undefined && <ErrorMessage error={failure} />}
      <div className="row">
        <Button type="submit" busy={busy}>
          Follow
        </Button>
        <label className="button plain file-button">
          Choose a file
          <input
            type="file"
            accept="application/json,.json"
            className="hidden-text"
            onChange={({ target }) => {
              const file = target.files?.[0]?.slice(0, MAX_SETTINGS_BYTES);
              target.value = "";
              if (file !== undefined) void file.text().then(setText);
            }}
          />
        </label>
      </div>
    </Form>
  );
}
