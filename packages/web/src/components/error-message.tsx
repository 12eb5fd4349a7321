import { type ReactNode, useEffect, useState } from "react";
import { type Failure, failureOf } from "../errors.ts";
import { Verbatim } from "./verbatim.tsx";

interface Properties {
  /** Anything that was thrown. */
  readonly error: unknown;
  readonly tone?: "bad" | "warn" | undefined;
  /** Buttons. */
  readonly children?: ReactNode;
}

interface Help {
  readonly code: string;
  readonly means: string;
  readonly next: string | undefined;
}

/** An error: what it means, what the user can do, and its code and message for a report. */
export function ErrorMessage({ error, tone = "bad", children }: Properties) {
  const failure: Failure = failureOf(error);
  const [help, setHelp] = useState<Help>();
  useEffect(() => {
    let current = true;
    void import("../lib/help.ts").then(
      ({ explain }) => {
        const found = explain(failure.code);
        if (current) setHelp(found === undefined ? undefined : { code: failure.code, ...found });
        // If the help cannot be loaded, the message itself is shown.
      },
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [failure.code]);
  const known = help?.code === failure.code ? help : undefined;
  return (
    <div className="notice" data-tone={tone} role="alert" data-code={failure.code}>
      <p>
        <strong>{known?.means ?? <Verbatim>{failure.message}</Verbatim>}</strong>
      </p>
      {known?.next !== undefined && <p>{known.next}</p>}
      <details>
        <summary>
          <Verbatim>{failure.code}</Verbatim>
        </summary>
        <Verbatim as="p">{failure.message}</Verbatim>
      </details>
      {children !== undefined && <div className="row">{children}</div>}
    </div>
  );
}
