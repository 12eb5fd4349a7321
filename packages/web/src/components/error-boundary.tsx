import { Component, type ReactNode } from "react";
import { Button } from "./button.tsx";
import { ErrorMessage } from "./error-message.tsx";

interface Properties {
  /** Shown instead of the children after they failed; default: the error. */
  readonly fallback?: ((error: unknown) => ReactNode) | undefined;
  readonly children: ReactNode;
}

/** Shows an error instead of a part that failed, so that the rest of the page keeps working. */
export class ErrorBoundary extends Component<Properties, { readonly failed: boolean; readonly error: unknown }> {
  override state = { failed: false, error: undefined as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { failed: true, error };
  }

  override render() {
    const { fallback = (error: unknown) => <ErrorMessage error={error} />, children } = this.props;
    const { failed, error } = this.state;
    return failed ? fallback(error) : children;
  }
}

/** Shown instead of a whole page that failed. */
export const PageFailed = ({ error }: { readonly error: unknown }) => (
  <div className="narrow stack">
    <h1>This page stopped working</h1>
    <ErrorMessage error={error}>
      <Button kind="primary" onClick={() => location.reload()}>
        Reload
      </Button>
    </ErrorMessage>
    <p className="soft">
      Nothing is lost: this browser has stored the wallet and its payments. After the reload, unlock the wallet again.
    </p>
  </div>
);
