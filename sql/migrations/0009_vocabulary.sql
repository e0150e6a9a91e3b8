-- Alarm kinds that nothing ever raised go. How answers are checked is said by whoever makes a
-- campaign, and has its default there.
ALTER TABLE alarms ALTER COLUMN kind TYPE text;
DROP TYPE alarm_kind;
CREATE TYPE alarm_kind AS ENUM ('contradiction');
ALTER TABLE alarms ALTER COLUMN kind TYPE alarm_kind USING kind::alarm_kind;
ALTER TABLE campaigns ALTER COLUMN replication DROP DEFAULT;
