import { Component, type ReactNode } from "react";
import { ErrorMessage } from "./error-message.tsx";

interface Properties {
  readonly children: ReactNode;
}

/** Shows an error in place of a part that failed, so that the rest of the page stays. */
export class ErrorBoundary extends Component<Properties, { readonly error: unknown }> {
  override state = { error: undefined as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    return error === undefined ? this.props.children : <ErrorMessage error={error} />;
  }
}
