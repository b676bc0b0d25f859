import type { Operation } from './operations';
import classes from './page.module.css';

/** The parts of the page, and every operation. */
export function SideBar({ operations }: { operations: Operation[] }) {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  return (
    <nav className={classes.side} aria-label="On this page">
      <ul>
        <li>
          <a href="#getting-started">Getting started</a>
        </li>
        <li>
          <a href="#errors">Errors</a>
        </li>
        <li>
          <a href="#tool-server">Tool server</a>
        </li>
        {tags.map((tag) => (
          <li key={tag}>
            <span className={classes.tag}>{tag}</span>
            <ul>
              {operations
                .filter((one) => one.tag === tag)
                .map(({ id, method, summary }) => (
                  <li key={id}>
                    <a href={`#/${tag}/${id}`}>
                      <span className={classes.method} data-method={method}>
                        {method}
                      </span>
                      {summary}
                    </a>
                  </li>
                ))}
            </ul>
          </li>
        ))}
      </ul>
    </nav>
  );
}
