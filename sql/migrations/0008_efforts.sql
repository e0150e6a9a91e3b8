-- What the engine expected a question to take.

ALTER TABLE workunits ADD COLUMN effort_yes real, ADD COLUMN effort_no real;
