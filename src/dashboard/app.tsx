import { token } from './session.ts';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';

export function App() {
  return token.value === undefined ? <SignIn /> : <Shell />;
}
