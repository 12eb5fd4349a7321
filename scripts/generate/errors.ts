// node scripts/generate/errors.ts [--check]: writes docs/errors.md, and the tables of errors in docs/api.md and
// docs/cli.md, from the definitions in packages/*/src/error-definitions.ts. It needs the built packages.
import { join } from "node:path";
import { CHAIN_ERRORS } from "@sotto/chain";
import { SETS } from "@sotto/cli";
import { CLI_ERRORS, compose, EXIT } from "@sotto/cli-kit";
import { FETCH_ERRORS, PHONE_PAYMENT_ERRORS, PURCHASE_ERRORS } from "@sotto/client";
import { SCRIPT_ERRORS } from "@sotto/command/error-definitions";
import { DATABASE_ERRORS } from "@sotto/database";
import { GROTH16_ERRORS } from "@sotto/groth16";
import { root } from "@sotto/keys/circuits/paths";
import { type GeneratedFile, runGenerators } from "@sotto/keys/generate/generated-file";
import { MCP_ERRORS } from "@sotto/mcp";
import { MPP_ERRORS } from "@sotto/mpp";
import { MPP_CLIENT_ERRORS } from "@sotto/mpp/client";
import { ORIGIN_CLIENT_ERRORS } from "@sotto/origins/client";
import { CURATOR_ERRORS } from "@sotto/origins/curator";
import { EVIDENCE_ERRORS } from "@sotto/origins/evidence";
import { ORIGIN_HEAD_ERRORS, ORIGIN_SERVICE_ERRORS } from "@sotto/origins/service";
import { ORIGIN_ERRORS } from "@sotto/origins/wallet";
import { PHONE_ERRORS, REGISTRY_ERRORS } from "@sotto/phone-registry";
import { PREPAID_ERRORS } from "@sotto/prepaid/client";
import { PREPAID_SERVER_ERRORS } from "@sotto/prepaid/server";
import { MIRROR_ERRORS } from "@sotto/prepaid/service";
import { type ErrorDefinition, type ErrorTable, type ExitName, PROTOCOL_ERRORS } from "@sotto/protocol";
import { X402_ERRORS } from "@sotto/protocol/x402";
import { PROVER_ERRORS } from "@sotto/prover";
import { PAYWALL_ERRORS } from "@sotto/resource-server";
import { SERVER_ERRORS } from "@sotto/server";
import { EXTENSIONS } from "@sotto/service";
import {
  ENGINE_ERRORS,
  RELAYER_ERRORS,
  routeErrors,
  SERVICE_ERRORS,
  SIGNER_ERRORS,
  STORE_ERRORS,
} from "@sotto/verifier-service";
import { RECEIPT_ERRORS, SERVICE_CLIENT_ERRORS, WALLET_ERRORS } from "@sotto/wallet";
import { WEB_ERRORS } from "@sotto/web/errors";
import { X402_SCHEME_ERRORS } from "@sotto/x402/client";
import { CREATE_ERRORS } from "create-sotto";
import { withPart } from "./document-part.ts";

/** Every class of errors, with its package and its definitions. */
export const CLASSES: readonly { readonly name: string; readonly folder: string; readonly errors: ErrorTable }[] = [
  { name: "ProtocolError", folder: "protocol", errors: PROTOCOL_ERRORS },
  { name: "X402Error", folder: "protocol", errors: X402_ERRORS },
  { name: "ChainError", folder: "chain", errors: CHAIN_ERRORS },
  { name: "Groth16Error", folder: "groth16", errors: GROTH16_ERRORS },
  { name: "ProverError", folder: "prover", errors: PROVER_ERRORS },
  { name: "WalletError", folder: "wallet", errors: WALLET_ERRORS },
  { name: "FetchError", folder: "client", errors: FETCH_ERRORS },
  { name: "PurchaseError", folder: "client", errors: PURCHASE_ERRORS },
  { name: "PhonePaymentError", folder: "client", errors: PHONE_PAYMENT_ERRORS },
  { name: "PrepaidError", folder: "prepaid", errors: PREPAID_ERRORS },
  { name: "OriginError", folder: "origins", errors: ORIGIN_ERRORS },
  { name: "ReceiptError", folder: "wallet", errors: RECEIPT_ERRORS },
  { name: "ServiceClientError", folder: "wallet", errors: SERVICE_CLIENT_ERRORS },
  { name: "EvidenceError", folder: "origins", errors: EVIDENCE_ERRORS },
  { name: "CuratorError", folder: "origins", errors: CURATOR_ERRORS },
  { name: "OriginClientError", folder: "origins", errors: ORIGIN_CLIENT_ERRORS },
  { name: "OriginHeadError", folder: "origins", errors: ORIGIN_HEAD_ERRORS },
  { name: "OriginServiceError", folder: "origins", errors: ORIGIN_SERVICE_ERRORS },
  { name: "WebError", folder: "web", errors: WEB_ERRORS },
  { name: "CliError", folder: "cli-kit", errors: CLI_ERRORS },
  { name: "AgentError", folder: "mcp", errors: MCP_ERRORS },
  { name: "CreateError", folder: "create-sotto", errors: CREATE_ERRORS },
  { name: "PaywallError", folder: "resource-server", errors: PAYWALL_ERRORS },
  { name: "PrepaidServerError", folder: "prepaid", errors: PREPAID_SERVER_ERRORS },
  { name: "MppError", folder: "mpp", errors: MPP_ERRORS },
  { name: "MppClientError", folder: "mpp", errors: MPP_CLIENT_ERRORS },
  { name: "X402SchemeError", folder: "x402", errors: X402_SCHEME_ERRORS },
  { name: "DatabaseError", folder: "database", errors: DATABASE_ERRORS },
  { name: "ServerError", folder: "server", errors: SERVER_ERRORS },
  { name: "RegistryError", folder: "phone-registry", errors: REGISTRY_ERRORS },
  { name: "PhoneError", folder: "phone-registry", errors: PHONE_ERRORS },
  { name: "ServiceError", folder: "verifier-service", errors: SERVICE_ERRORS },
  { name: "MirrorError", folder: "prepaid", errors: MIRROR_ERRORS },
  { name: "EngineError", folder: "verifier-service", errors: ENGINE_ERRORS },
  { name: "RelayerError", folder: "verifier-service", errors: RELAYER_ERRORS },
  { name: "SignerError", folder: "verifier-service", errors: SIGNER_ERRORS },
  { name: "StoreError", folder: "verifier-service", errors: STORE_ERRORS },
];

const row = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const COMMAND_ERRORS = compose(SETS).errors;

/** The exit code of a command that fails with this error code. */
const exitOf = (code: string, { exit = "failed" }: ErrorDefinition): string =>
  Object.hasOwn(COMMAND_ERRORS, code) ? `${EXIT[exit].code}` : "";

/** What to do about a code without a remedy of its own, by the exit code of the command: a table of its own in the page. */
const BY_EXIT: Readonly<Record<ExitName, string>> = {
  failed: "Fix the problem that the message describes, then try again.",
  usage: "Correct the option, argument or setting that the message names.",
  refused: "Change what the message names: the same request is refused again.",
  funds: "Add funds, or spend less.",
  pending: "Wait, then run the same command again: it resumes.",
  network: "Try again. If it fails again, check the address and the connection.",
  invalid: "Do not rely on it. Ask its author for a new one.",
  busy: "Wait until the other process has finished, then try again.",
  key: "Name a key that only you can read.",
  status: "Read the response: the server says what it expects.",
  interrupted: "Run the same command again: it resumes.",
};

/** What to do about a code without a remedy of its own, by the status of the HTTP response. */
const BY_STATUS: Readonly<Record<number, string>> = {
  400: "Correct the field that the message names.",
  401: "Get a new token or sign again, then repeat the request.",
  404: "Check the path, and the id or number in it.",
  405: "Use a method of the header `allow`.",
  408: "Send the whole request sooner.",
  409: "Look at what the message names: the same request fails again.",
  410: "Begin again.",
  413: "Send a smaller body.",
  415: "Send JSON, with `content-type: application/json`.",
  416: "Ask for a range within the file.",
  422: "Change what the message names, then prove or sign again.",
  429: "Wait, then try again.",
  431: "Send shorter headers.",
  500: "Try again later. The operator finds the cause by `x-request-id`.",
  503: "Try again later.",
};

const FOR_OPERATOR = "The operator corrects what the message in the log names.";

/** What to do about an error without a remedy of its own, by its exit code, its status or who sees it. */
function steps(): string[] {
  const exits = Object.entries(BY_EXIT).map(([name, step]) => row(`exit ${EXIT[name as ExitName].code}`, step));
  const statuses = Object.entries(BY_STATUS).map(([status, step]) => row(`HTTP ${status}`, step));
  const neither = [
    row("neither, in the log of a server", FOR_OPERATOR),
    row("neither, in a program of yours", BY_EXIT.failed),
  ];
  return [row("an error with", "what to do"), "|---|---|", ...exits, ...statuses, ...neither];
}

function remedyOf({ remedy }: ErrorDefinition): string {
  if (remedy === undefined || typeof remedy === "string") return remedy ?? "";
  const { local, elsewhere } = remedy;
  if (local === elsewhere || local === undefined) return elsewhere ?? "";
  return elsewhere === undefined ? `local chain: ${local}` : `${elsewhere}; local chain: ${local}`;
}

const INTRODUCTION = `# Errors

Every error of sotto is a \`SottoError\` of \`@sotto/protocol\` with a stable \`code\`. Switch on the code, not on the message:

\`\`\`js
import { SottoError } from "@sotto/protocol";

try {
  await pay();
} catch (error) {
  if (!(error instanceof SottoError) || error.code !== "INSUFFICIENT_FUNDS") throw error;
  console.error(\`\${error.message}; missing: \${error.details["missing"]}\`);
}
\`\`\`

An HTTP response has the code in [its body](api.md#errors); the command line prints it and ends with the
[exit code](cli.md#rules). An error without an HTTP status is a fault of the service: the response is 500 \`INTERNAL\`, and
the message is in the service's log. A code is the anchor of its row, in lower case: \`errors.md#insufficient_funds\`.

The commands of a checkout (\`npm run ..\`) have [their own codes](#commands-of-the-checkout).

This page is written by \`npm run generate\` from the definitions in \`packages/*/src/error-definitions.ts\`.
`;

const STEPS = `## What to do

The column "what to do" is empty if there is nothing to add to this table:
`;

const SCRIPTS = `## Commands of the checkout

The scripts of package.json print \`sotto: CODE: text\` and exit with 1, or with 130 if they were interrupted. They can also
end with a code of the packages. Without a remedy of its own, fix the problem that the text describes, then try again.
`;

/** The table of the codes that only scripts throw. */
function scriptTable(ofPackages: ReadonlySet<string>): string[] {
  const errors: ErrorTable = SCRIPT_ERRORS;
  const codes = Object.keys(errors).sort();
  const rows = codes.map((code) => {
    // A code that a package defines too has its anchor above.
    const anchor = ofPackages.has(code) ? "" : `<a id="${code.toLowerCase()}"></a>`;
    const { means, cause } = errors[code]!;
    return row(`${anchor}\`${code}\``, means, cause, remedyOf(errors[code]!));
  });
  return [row("code", "meaning", "cause", "what to do"), "|---|---|---|---|", ...rows];
}

/** docs/errors.md. Each code of a package has an anchor: its name in lower case. */
export async function generateErrors(): Promise<GeneratedFile> {
  const codes = [...new Set(CLASSES.flatMap(({ errors }) => Object.keys(errors)))].sort();
  const rows = codes.map((code) => {
    const classes = CLASSES.filter(({ errors }) => Object.hasOwn(errors, code));
    const definition = classes[0]?.errors[code];
    if (definition === undefined) throw new Error(`${code} has no definition`);
    const thrownBy = classes.map(({ name, folder }) => `${name} (${folder})`).join(", ");
    const { means, cause, http } = definition;
    const anchor = `<a id="${code.toLowerCase()}"></a>\`${code}\``;
    return row(
      anchor,
      means,
      cause,
      remedyOf(definition),
      thrownBy,
      http === undefined ? "" : `${http}`,
      exitOf(code, definition),
    );
  });
  const table = [
    row("code", "meaning", "cause", "what to do", "class (package)", "HTTP", "exit"),
    "|---|---|---|---|---|---|---|",
    ...rows,
  ];
  return {
    path: join(root, "docs", "errors.md"),
    content: `${INTRODUCTION}\n${STEPS}\n${steps().join("\n")}\n\n## Codes\n\n${table.join("\n")}\n\n${SCRIPTS}\n${scriptTable(new Set(codes)).join("\n")}\n`,
  };
}

/** A document with its table of errors replaced. */
const withTable = (document: string, table: readonly string[]): GeneratedFile =>
  withPart(document, "errors", "scripts/generate/errors.ts", table.join("\n"));

/** The table in docs/api.md: every code that a route responds with, by status. */
export async function generateStatuses(): Promise<GeneratedFile> {
  const errors = routeErrors(EXTENSIONS);
  const rows = Object.entries(errors).flatMap(([code, { http, means }]) =>
    http === undefined ? [] : [{ http, code, means }],
  );
  rows.sort((a, b) => a.http - b.http || (a.code < b.code ? -1 : 1));
  const lines = rows.map(({ http, code, means }) => row(`${http}`, `\`${code}\``, means));
  return withTable("api.md", [row("status", "code", "meaning"), "|---|---|---|", ...lines]);
}

/** The table in docs/cli.md: every exit code. */
export async function generateExits(): Promise<GeneratedFile> {
  const lines = Object.values(EXIT).map(({ code, means }) => row(`${code}`, means));
  return withTable("cli.md", [row("exit code", "meaning"), "|---|---|", ...lines]);
}

if (import.meta.main) await runGenerators(generateErrors, generateStatuses, generateExits);
