import { joinOwn, type MessagePart, plainText } from "./message.ts";

/** Machine-readable values that an error has in addition to its message. Never secrets. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>;

/** How an error ends a command. The command line maps each name to an exit code. */
export type ExitName =
  | "failed"
  | "usage"
  | "refused"
  | "funds"
  | "pending"
  | "network"
  | "invalid"
  | "busy"
  | "key"
  | "status"
  | "interrupted";

/** The definition of one error code. docs/errors.md lists all of them. */
export interface ErrorDefinition {
  readonly means: string;
  /** Why it usually happens: what to look for first. */
  readonly cause: string;
  /** How this error ends a command. Default: `failed`. */
  readonly exit?: ExitName | undefined;
  /** HTTP status of a response with this error. Default: 500 `INTERNAL`, without the message. */
  readonly http?: number | undefined;
  /** The next step for a user of the command line. */
  readonly remedy?: string | Remedy | undefined;
}

/** A next step that depends on the chain or on the error's details. */
export interface Remedy {
  /** On a local chain. */
  readonly local?: string | undefined;
  /** On all other chains. */
  readonly elsewhere?: string | undefined;
  /** The remedy applies only if the error has this detail with this value or, without a value, lacks the detail. */
  readonly detail?: { readonly name: string; readonly value?: string | undefined } | undefined;
}

/** Definitions by code. */
export type ErrorTable = Readonly<Record<string, ErrorDefinition>>;

/** The mark of errors that a package throws which imports nothing of sotto. */
const SOTTO_ERROR = /* @__PURE__ */ Symbol.for("sotto.error");

/** Base class of all errors of sotto: `code` is stable, `message` states what was wrong and what was expected. */
export class SottoError extends Error {
  override readonly name: string = "SottoError";
  /** Stable. docs/errors.md explains every code. */
  readonly code: string;
  /** Values for programs, such as a limit; empty if there are none. */
  readonly details: ErrorDetails;
  /** The message in parts, of which some may be texts of another party. */
  readonly parts: readonly MessagePart[];

  /** Whether `value` is an error of sotto. `instanceof SottoError` is also true for a `Groth16Error` of @sotto/groth16. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore-start lint/complexity/noThisInStatic: subclasses inherit this method.
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    return this === SottoError && value instanceof Error && SOTTO_ERROR in value;
    // biome-ignore-end lint/complexity/noThisInStatic: subclasses inherit this method.
  }

  constructor(
    code: string,
    message: string | readonly MessagePart[],
    details: ErrorDetails = {},
    options?: { cause?: unknown },
  ) {
    const parts = typeof message === "string" ? [message] : joinOwn(message);
    super(plainText(parts), options);
    this.code = code;
    this.details = details;
    this.parts = parts;
  }
}

/** An error of a class made by {@link createErrorClass}. */
export interface DefinedError<Code extends string> extends SottoError {
  readonly code: Code;
}

/** An error class that takes the codes of one table. */
export interface ErrorClass<Code extends string> {
  /** Lets `instanceof` narrow an error to the codes of the class. */
  readonly prototype: DefinedError<Code>;
  new (
    code: Code,
    message: string | readonly MessagePart[],
    details?: ErrorDetails,
    options?: { cause?: unknown },
  ): DefinedError<Code>;
}

/**
 * Makes a subclass of {@link SottoError} that takes the codes of `Table` and no others. The class depends only on the
 * table's type, so that a page that throws and catches these errors does not download their definitions.
 */
export function createErrorClass<Table extends ErrorTable>(name: string): ErrorClass<keyof Table & string> {
  const Defined = class extends SottoError {
    override readonly name = name;
  };
  Object.defineProperty(Defined, "name", { value: name });
  return Defined as unknown as ErrorClass<keyof Table & string>;
}
