import { render } from 'preact';
import { KeyOwnerPage } from './key-owner-page.tsx';
import '../styles/base.css';
import '../styles/parts.css';
import './key-page.css';

const root = document.getElementById('app');
if (root !== null) render(<KeyOwnerPage />, root);
