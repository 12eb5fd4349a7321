import type { ErrorTable } from "@sotto/protocol";

/** The errors of the web app itself. No message repeats a secret. */
export const WEB_ERRORS = {
  HOST_CONFIG_INVALID: {
    means: "The app's configuration (sotto.json) is missing or malformed.",
    cause: "The host serves the app without its configuration, or the file has a typo.",
    remedy: "Ask the host of this page, or enter the service, a node and the deployment manifest.",
  },
  PASSPHRASE_WRONG: {
    means: "The passphrase does not open this wallet.",
    cause: "The passphrase has a typo, was typed with another keyboard layout, or belongs to another wallet.",
    remedy: "Try again. Without the passphrase, only the 24 words restore the wallet.",
  },
  PASSPHRASE_TOO_SHORT: {
    means: "The passphrase is too short.",
    cause: "A short passphrase can be guessed by anyone who copies this browser's data.",
    remedy: "Use at least 10 characters.",
  },
  VAULT_DAMAGED: {
    means: "This browser's copy of the wallet's key is damaged.",
    cause: "The browser or another program changed or removed part of the page's data.",
    remedy: "Remove it in this browser, and restore the wallet from its 24 words or from a backup.",
  },
  BACKUP_DAMAGED: {
    means: "The file is not a backup of this app, or it is damaged.",
    cause: "The file was cut off or edited, or is a different kind of file.",
    remedy: "Choose another file.",
  },
  WALLET_LOCKED: {
    means: "The wallet is locked.",
    cause: "The wallet was locked in another tab, or after a period without use.",
    remedy: "Unlock it with its passphrase.",
  },
  CHAIN_REPLACED: {
    means: "The chain is not the one that this wallet has read: it was restarted, or the pool is a different one.",
    cause: "The operator of a local chain started it with `--fresh`, or the host moved to another pool.",
    remedy: "Start fresh on the new chain. The words stay the same; notes of the old chain are not on the new one.",
  },
  STORE_FULL: {
    means: "This browser has no room left for the wallet's data.",
    cause: "The disk is nearly full, or the browser gives this page little room, as in private windows.",
    remedy: "Free disk space, or remove the data of other sites. Nothing was paid without being recorded.",
  },
  POOL_NOT_KEPT: {
    means: "This browser does not store the pool's data, for example because it has no room left.",
    cause: "The disk is nearly full, or the window is a private one.",
    remedy: "You can continue. After a reload, the page reads everything again; free disk space to avoid that.",
  },
  HOST_CHANGED: {
    means: "The host of this page names another pool or chain than when you opened the page.",
    cause: "The operator deployed a new pool, or the local chain was started with `--fresh`.",
    remedy: "Reload the page to see the new one.",
  },
  NOT_PAYABLE: {
    means: "The address does not ask for a payment that this wallet can make.",
    cause: "The page is free, asks for another kind of payment, or does not exist.",
    remedy: "Check the address.",
  },
  PAGE_UNREACHABLE: {
    means: "The address does not answer.",
    cause: "The address has a typo, its server is down, or there is no connection.",
    remedy: "Check the address and your connection, and that its server is running.",
  },
  PAGE_BLOCKED: {
    means: "The server answers, but does not allow web pages to read its responses (CORS).",
    cause: "The server was set up for programs, which do not need this permission.",
    remedy:
      "Ask its operator to allow web pages: a resource server with the option `cors`, a service with `SOTTO_CORS_ORIGINS`.",
  },
  VIEWING_KEY_INVALID: {
    means: "The text is not a viewing key for this pool.",
    cause: "The text was cut off, or is a key of another pool or chain.",
    remedy: "Write one with `sotto view-key`, for the same pool.",
  },
  CURATOR_SETTINGS_INVALID: {
    means: "The text is not the settings of a curator's set.",
    cause: "The text is not JSON, or a setting has a typo.",
    remedy: "Enter curator, name and url, and optionally mirrors and minimumCrowd, as a JSON object.",
  },
  SERVICE_STATUS_INVALID: {
    means: "The address answers, but it is not a sotto service.",
    cause: "The address has a typo, or a proxy answers in the service's place.",
    remedy: "Check the address of the service in sotto.json.",
  },
  NOT_A_RECEIPT: {
    means: "The text is not a receipt.",
    cause: "The text was cut off, or is not a receipt.",
    remedy: "Paste the whole JSON text that the payer's wallet exported.",
  },
  TERMS_CHANGED: {
    means: "Price or recipient changed after the wallet showed them. Nothing was paid.",
    cause: "The merchant changed its price while the dialog was open, or changes it with every request.",
    remedy: "Check the new terms before you pay.",
  },
  FAUCET_FAILED: {
    means: "The faucet did not send test tokens.",
    cause: "The faucet is down, or the account has requested tokens too often.",
    remedy: "Wait a minute, and try again.",
  },
  SIGNATURE_REFUSED: {
    means: "The browser's Ethereum wallet did not sign.",
    cause: "The user refused or closed the request in that wallet, or that wallet is locked.",
    remedy: "Approve the request in that wallet. A signature costs nothing.",
  },
  STOPPED: {
    means: "The user stopped waiting.",
    cause: "The dialog was closed before the payment was finished.",
    remedy: "The same request resumes the payment; it is never paid twice.",
  },
  APP_FAILED: {
    means: "The app failed unexpectedly.",
    cause: "The app has a bug, or the browser does not support what it needs.",
    remedy: "Reload the page. Payments resume where they stopped.",
  },
} satisfies ErrorTable;
