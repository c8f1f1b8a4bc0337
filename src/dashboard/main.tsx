import { render } from 'preact';
import { App } from './app.tsx';
import './styles/base.css';
import './styles/parts.css';
import './styles/tables.css';
import './styles/shell.css';
import './styles/books.css';
import './styles/operations.css';
import './styles/print.css';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
