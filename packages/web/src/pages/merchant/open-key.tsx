import { useState } from "react";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Form } from "../../components/form.tsx";
import { TextArea } from "../../components/text-area.tsx";
import { merchantDesk } from "../../engine/merchant.ts";
import { engine, useEngine } from "../../engine/page.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useConfig } from "../../hooks/use-config.ts";

/** Asks for a viewing key. */
export function OpenKey() {
  const config = useConfig();
  const wallet = useEngine();
  const [text, setText] = useState("");
  const { busy, failure, run } = useAction();
  const openOwn = async () => {
    await merchantDesk().open(config, await engine().viewingKeys());
  };
  return (
    <Form
      className="card stack"
      onSubmit={() => {
        run(async () => {
          await merchantDesk().open(config, text);
          setText("");
        });
      }}
    >
      <h2>Open with a viewing key</h2>
      <TextArea
        label="Viewing key"
        hint={
          <span>
            The text that <code>sotto view-key</code> writes. It shows what the addresses of its months receive, and
            cannot spend. This page does not store it, and forgets it when you leave.
          </span>
        }
        required
        spellCheck={false}
        autoComplete="off"
        placeholder='{"type":"sotto-viewing-key", …}'
        value={text}
        onChange={setText}
      />
      {failure !== undefined && <ErrorMessage error={failure} />}
      <div className="row">
        <Button kind="primary" type="submit" busy={busy}>
          Open
        </Button>
        {wallet.phase === "open" && (
          <Button busy={busy} onClick={() => run(openOwn)}>
            Use this browser's wallet
          </Button>
        )}
      </div>
    </Form>
  );
}
