import { useState } from "react";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Field } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { useAction } from "../../hooks/use-action.ts";

const MIN_CHARACTERS = 10;

interface Properties {
  /** The user enters a new passphrase twice. */
  readonly isNew: boolean;
  readonly action: string;
  readonly kind?: "primary" | "danger" | undefined;
  onPassphrase(passphrase: string): Promise<unknown>;
}

/** A form that asks for a passphrase. */
export function PassphraseForm({ isNew, action, kind = "primary", onPassphrase }: Properties) {
  const [passphrase, setPassphrase] = useState("");
  const [again, setAgain] = useState("");
  const { busy, failure, run } = useAction();
  const differs = isNew && again !== "" && again !== passphrase;
  const ready = passphrase !== "" && (!isNew || ([...passphrase].length >= MIN_CHARACTERS && again === passphrase));
  return (
    <Form className="stack" onSubmit={() => run(() => onPassphrase(passphrase))}>
      <Field
        label="Passphrase"
        type="password"
        autoComplete={isNew ? "new-password" : "current-password"}
        hint={isNew ? `At least ${MIN_CHARACTERS} characters. It encrypts the key in this browser.` : undefined}
        value={passphrase}
        onChange={setPassphrase}
        required
      />
      {isNew && (
        <Field
          label="The same passphrase again"
          type="password"
          autoComplete="new-password"
          hint={differs ? "The two passphrases differ." : undefined}
          aria-invalid={differs || undefined}
          value={again}
          onChange={setAgain}
          required
        />
      )}
      {failure !== undefined && <ErrorMessage error={failure} />}
      <div className="row">
        <Button kind={kind} type="submit" busy={busy} disabled={!ready}>
          {action}
        </Button>
      </div>
    </Form>
  );
}
