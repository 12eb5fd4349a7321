import type { ErrorTable } from "@sotto/protocol";

/** The errors of the checkout's commands. All exit with 1, except INTERRUPTED, which exits with 130. */
export const SCRIPT_ERRORS = {
  // Every command
  INPUT_ENDED: { means: "The command waits for input, but its input has ended.", remedy: "run it on a terminal" },
  INVALID_PORT: { means: "A port is not a number from 1 to 65535." },
  INVALID_URL: { means: "An address is not an http or https URL." },
  UNEXPECTED: { means: "An error without a code.", remedy: "run it with SOTTO_DEBUG=1 and report the stack trace" },
  UNKNOWN_OPTION: { means: "An option is not one of the command's, or has no value." },

  // The launcher
  COMMAND_NOT_FOUND: { means: "A program is not on the PATH.", remedy: "install it" },
  COMMAND_NOT_STARTED: { means: "The operating system did not start a program." },
  INSTALL_FAILED: { means: "The toolchain or the dependencies could not be installed." },
  INTERRUPTED: { means: "The command was interrupted while it installed or built.", remedy: "run it again" },
  NODE_TOO_OLD: { means: "The launcher needs Node 20 or newer." },
  TOOLCHAIN_BROKEN: { means: "The installed Node does not run on this machine.", remedy: "delete `.toolchain`" },
  UNKNOWN_TASK: { means: "There is no task of this name." },
  UNSUPPORTED_PLATFORM: { means: "The npm registry has no Node for this platform.", remedy: "install Node 24" },

  // Circuits and their keys
  ARTIFACT_CHANGED: { means: "An artifact differs from the lock.", remedy: "`npm run circuits:build`" },
  CIRCOM_FAILED: { means: "A circuit does not compile; the message is circom's." },
  CIRCUITS_JSON_INVALID: { means: "The file `circuits/circuits.json` is missing or malformed." },
  CIRCUITS_JSON_STALE: {
    means: "The compiled circuits differ from circuits.json.",
    remedy: "`npm run circuits:build`",
  },
  CIRCUIT_UNKNOWN: { means: "There is no circuit of this name." },
  CONTRACTS_NOT_BUILT: { means: "A compiled contract is missing.", remedy: "`npm run contracts:build`" },
  GENERATED_STALE: { means: "A generated file differs from its sources.", remedy: "`npm run generate`" },
  GROUP_UNKNOWN: { means: "No constraint group has this prefix." },
  INCLUDE_MISSING: { means: "A circuit includes a file that does not exist." },
  LOCK_DAMAGED: { means: "The lock `circuits/artifacts.lock.json` is malformed." },
  LOCK_MISSING: { means: "There is no `circuits/artifacts.lock.json`.", remedy: "`npm run setup:dev`" },
  PACKAGE_DAMAGED: { means: "An installed package has no version.", remedy: "delete `node_modules`" },
  R1CS_DAMAGED: { means: "A compiled circuit is truncated or not an r1cs file.", remedy: "compile it again" },
  R1CS_MISSING: { means: "A circuit is not compiled.", remedy: "`npm run build`" },
  SIGNALS_INVALID: { means: "The public signals to forge a proof for are too few, too many or not field elements." },
  SOURCE_MISSING: { means: "There is no circuit at this path." },
  STEP_FAILED: { means: "A step of `circuits:build` failed; its output is above the message." },
  TESTS_FAILED: { means: "Tests of the changed circuits failed; their output is above the message." },
  TRAPDOOR_DAMAGED: { means: "A trapdoor file is malformed.", remedy: "delete it and run `npm run setup:dev`" },
  TRAPDOOR_MISSING: { means: "A circuit has no development key.", remedy: "`npm run setup:dev`" },
  VERIFIER_STALE: {
    means: "A Solidity verifier is missing or is for another key.",
    remedy: "`npm run circuits:build`",
  },

  // The ceremony
  ARTIFACT_MISSING: { means: "An artifact of the ceremony is missing." },
  BEACON_INVALID: { means: "The beacon's bytes, iterations or source are out of range." },
  CEREMONY_EXISTS: { means: "There is a ceremony of this name.", remedy: "choose another name" },
  CEREMONY_NOT_BEGUN: { means: "The command `new` was interrupted.", remedy: "run it again" },
  CEREMONY_OPEN: { means: "The ceremony needs contributions, then a beacon, then `finalize`." },
  CEREMONY_OVER: { means: "The beacon has been applied, so the ceremony accepts nothing more." },
  CIRCUIT_DIFFERS: { means: "The ceremony was for other circuits.", remedy: "check out the ceremony's commit" },
  COMMAND_UNKNOWN: { means: "The ceremony has no command of this name." },
  CONTRIBUTION_INVALID: { means: "A key does not result from the previous contributions." },
  DOWNLOAD_FAILED: { means: "A download was refused or broke off.", remedy: "run the command again to resume" },
  FILE_EXISTS: { means: "The file to write already exists.", remedy: "choose another file" },
  FOLDER_NOT_EMPTY: { means: "The folder for a contribution already exists.", remedy: "choose another folder" },
  NAME_INVALID: {
    means: "A ceremony's or contributor's name contains a character that is not allowed, or is too long.",
  },
  NAME_TAKEN: { means: "A verifier would have another contract's name.", remedy: "choose another name" },
  NO_CONTRIBUTIONS: { means: "There is no contribution to apply the beacon to." },
  OPTION_MISSING: { means: "A required option or argument is missing." },
  PTAU_DAMAGED: { means: "A file is not a powers of tau file of BN254." },
  PTAU_MISSING: { means: "The phase 1 file cannot be read.", remedy: "`npm run ceremony -- ptau`" },
  PTAU_POWER_UNKNOWN: { means: "There is no phase 1 file with this number of powers." },
  PTAU_TOO_SMALL: { means: "A circuit's key cannot be made from this phase 1; usually it has too few powers." },
  PTAU_UNKNOWN: { means: "A phase 1 file is not the public ceremony's, or not the one this ceremony began with." },
  TRANSCRIPT_DAMAGED: { means: "A transcript is malformed, or belongs to a different ceremony than its name says." },
  TRANSCRIPT_MISMATCH: { means: "A file differs from the transcript; the message names circuit and file." },
  TRANSCRIPT_MISSING: { means: "There is no transcript of this ceremony." },
  ZKEY_DAMAGED: { means: "A key file is truncated, changed or unreadable." },

  // Deployment and the local chain
  CHAIN_UNSUITABLE: { means: "Contracts on this chain see different block numbers than its nodes, as on Arbitrum." },
  DEPLOYMENT_DIFFERS: {
    means: "The chain, the manifest and this tree do not match; the message lists the differences.",
  },
  DEPLOYMENT_FAILED: { means: "Ignition stopped with an error.", remedy: "run the command again to resume" },
  FOLDER_NOT_WRITABLE: { means: "The manifest cannot be written.", remedy: "choose another folder with `--to`" },
  JOURNAL_DAMAGED: {
    means: "Ignition's journal lacks an entry.",
    remedy: "remove its folder, or choose another `--network`",
  },
  MANIFEST_EXISTS: { means: "Another checkout deployed under this name.", remedy: "choose another `--network`" },
  MANIFEST_MISSING: { means: "There is no manifest at this path, or it is not JSON." },
  NETWORK_INVALID: {
    means: "The name of a deployment is missing or contains characters other than a to z, 0 to 9 and -.",
  },
  NODE_FAILED: { means: "The local chain did not start." },
  NODE_UNREACHABLE: { means: "The node does not answer, or not with valid JSON-RPC." },
  NO_FUNDS: { means: "The deploying account has no ETH on this chain." },
  OPTION_INVALID: { means: "An option's value is out of range." },
  POOL_GONE: { means: "The journal belongs to a chain that was restarted.", remedy: "remove its folder" },
  PORT_BUSY: { means: "Another program listens on this port.", remedy: "choose another port with `--port`" },
  PORT_DENIED: { means: "The operating system does not open this port.", remedy: "choose another port with `--port`" },
  SETTING_INVALID: { means: "A setting of Hardhat is missing or invalid, or the keystore's password is wrong." },
  TOKEN_INVALID: { means: "There is no ERC-20 token at this address." },
  TRANSACTION_LOST: { means: "A sent transaction is not in a block yet.", remedy: "run the command again later" },

  // The local environment of `npm run dev`
  BUILD_FAILED: { means: "The build failed; its output is above the message." },
  CHAIN_HISTORY_DAMAGED: { means: "The file of the local chain's blocks is malformed.", remedy: "add `--fresh`" },
  CHAIN_NOT_REPEATED: {
    means: "The node does not build the same blocks from the kept transactions, as after an update of Hardhat.",
    remedy: "add `--fresh`",
  },
  DEV_RUNNING: { means: "Another process uses the same state folder.", remedy: "end it, or choose another `--state`" },
  INVALID_TRAFFIC: { means: "The rate of payments is out of range." },
  STATE_OUTDATED: { means: "The circuits changed after the pool was deployed.", remedy: "add `--fresh`" },

  // `npm run release`
  NO_CHANGESETS: { means: "There is nothing to release.", remedy: "`pnpm exec changeset`" },
  PACK_FAILED: { means: "A package could not be packed." },
  PACKAGE_UNFIT: { means: "A packed package is not fit to be published; the message lists why." },

  // The demo: each of its steps checks its result
  BALANCES_DIFFER: { means: "A balance at the end of the demo is wrong." },
  CHILD_FAILED: { means: "The service, the resource servers or the traffic exited while starting." },
  LEAKED: { means: "Public data of the demo contains a secret." },
  NOT_APPENDED: { means: "The service did not append the demo's notes in time." },
  NOT_CHARGED: { means: "A resource server of the demo did not answer 402." },
  NOT_LINKED: { means: "The demo's phone number does not resolve to the merchant's wallet." },
  NOT_PAID_ONCE: { means: "A request of the demo was not paid exactly once." },
  NOT_READ: { means: "The demo's viewing key does not read exactly the payments that were made." },
  NOT_SERVED: { means: "A paid request of the demo was not answered with 200." },
  NO_CODE: { means: "The demo's registry sent no code." },
  OUT_OF_ORDER: { means: "A step of the demo ran before the one it depends on." },
  PAID_TWICE: { means: "The demo paid twice for one purchase." },
  RESTORE_INCOMPLETE: { means: "The demo's restored wallet has a different balance than the original." },
  SERVER_FAILED: { means: "A resource server of the demo failed without a code." },
  SERVICE_FAILED: { means: "The demo's service failed without a code." },

  // The benches
  BENCH_UNKNOWN: { means: "There is no bench of this name." },
  LOOP_FAILED: { means: "The bench `loop` cannot change the circuit, or a turn failed." },
  TREE_CHANGED: { means: "The bench `loop` would overwrite uncommitted files.", remedy: "commit them" },
} satisfies ErrorTable;
